#!/usr/bin/python
"""What the action of this name takes and does."""

from __future__ import annotations

DOCUMENTATION = r"""
module: decide
short_description: Take the first rule of a table whose condition holds
description:
  - The last rule has no C(when). Register the result to use the other keys of the rule.
  - Only the rule that is taken is templated. Values keep the types that their templates make, with each
    version of ansible-core.
  - C(rolecall test --rules) tries the tables of a project without a cluster.
extends_documentation_fragment: rolecall.operator.rules
options:
  rules:
    required: true
author: The rolecall maintainers
attributes:
  check_mode:
    support: full
    description: Decides in check mode too.
"""

EXAMPLES = r"""
# vars/main/rules.yml:
# _basket_rules:
#   - when: pods | length == 0
#     reason: Starting
#     message: no pod is there yet
#     ready: false
#   - reason: AllReady
#     message: "{{ pods | length }} pods are ready"
#     ready: true
- name: Decide | how the Basket is
  rolecall.operator.decide:
    rules: _basket_rules
    facts:
      pods: "{{ _basket_pods.resources }}"
  register: _basket_verdict
"""

RETURN = r"""
rule:
  description: Which rule of the table it is; the first is 1. The other keys are those of the rule.
  returned: always
  type: int
"""
