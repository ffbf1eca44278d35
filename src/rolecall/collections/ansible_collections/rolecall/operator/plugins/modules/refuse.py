#!/usr/bin/python
"""What the action of this name takes and does."""

from __future__ import annotations

DOCUMENTATION = r"""
module: refuse
short_description: Fail with a reason that people and programs can read in Ready
description:
  - Ends the block with a failure that M(rolecall.operator.report_failure) writes to the condition C(Ready)
    with O(reason) and O(message).
  - Use it for what only a person can change, such as an object of that name that belongs to somebody else.
  - Of a table in O(rules), each rule has C(reason) and C(message). All rules that hold are refusals; their
    messages are joined, and the first gives the reason. Where none holds, nothing is refused.
extends_documentation_fragment: rolecall.operator.rules
options:
  reason:
    description: Reason of C(Ready), one word in camel case, such as V(NameTaken). Needed without O(rules).
    type: str
  message:
    description: What is refused, why, and the way out. Needed without O(rules).
    type: str
author: The rolecall maintainers
attributes:
  check_mode:
    support: full
    description: Fails in check mode too.
"""

EXAMPLES = r"""
- name: Validate | refuse to touch objects of another owner
  rolecall.operator.refuse:
    reason: NameTaken
    message: "{{ foreign | join(' and ') }} was there before; delete or rename it"
  when: foreign != []
  vars:
    foreign: "{{ services.resources | rolecall.operator.foreign(_shop_example_com_basket) }}"

- name: Validate | refuse what no Basket can be
  rolecall.operator.refuse:
    rules: _basket_refusals  # [{when: size | int > 9, reason: TooLarge, message: "..."}]
"""

RETURN = r"""
refusal:
  description: The reason.
  returned: when something is refused
  type: str
"""
