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
options:
  reason:
    description: Reason of C(Ready), one word in camel case, such as V(NameTaken).
    type: str
    required: true
  message:
    description: What is refused, why, and the way out.
    type: str
    required: true
author: The rolecall maintainers
attributes:
  check_mode:
    support: full
    description: Fails in check mode too.
"""

EXAMPLES = r"""
- name: Validate | refuse to touch what belongs to somebody else
  rolecall.operator.refuse:
    reason: NameTaken
    message: "{{ foreign | join(' and ') }} was there before; delete or rename it"
  when: foreign != []
  vars:
    foreign: "{{ services.resources | rolecall.operator.foreign(_shop_example_com_basket) }}"
"""

RETURN = r"""
refusal:
  description: The reason.
  returned: always
  type: str
"""
