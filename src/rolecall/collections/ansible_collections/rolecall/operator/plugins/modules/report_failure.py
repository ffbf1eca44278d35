#!/usr/bin/python
"""What the action of this name takes and does."""

from __future__ import annotations

DOCUMENTATION = r"""
module: report_failure
short_description: Say in Ready why a block failed, and fail
description:
  - For the C(rescue) of a block. Writes C(Ready=False) with the name of the task that failed and the API
    server's or the module's own words, then fails with these words.
  - The reason is V(SpecRefused), V(QuotaExceeded), V(PolicyRefused) or V(RightMissing) where the API server
    refuses for good, that of M(rolecall.operator.refuse) where the role refused, else V(Retrying).
  - Words of a task with C(no_log) stay hidden.
options: {}
author: The rolecall maintainers
attributes:
  check_mode:
    support: full
    description: Fails in check mode too, and writes nothing.
"""

EXAMPLES = r"""
- name: Reconcile | apply, report
  block:
    - name: Apply | the Deployment
      kubernetes.core.k8s:
        definition: "{{ lookup('ansible.builtin.template', 'deployment.yaml.j2') | from_yaml }}"
  rescue:
    - name: Report | report the failure
      rolecall.operator.report_failure:
"""

RETURN = r"""
ready_reason:
  description: The reason that C(Ready) has now.
  returned: always
  type: str
failed_task:
  description: Name of the task that failed.
  returned: always
  type: str
"""
