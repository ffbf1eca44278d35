#!/usr/bin/python
"""Writes what a role says of its object: status, conditions and Events. The action finds the object."""

from __future__ import annotations

DOCUMENTATION = r"""
module: report
short_description: Say how the object of this run is, and when to look at it again
description:
  - Writes C(Ready), other conditions and fields of the status, and posts Events, in one task.
  - It is about the object that this run is for, so nothing has to name it, unless O(cr) does.
  - The object is read once. Nothing is written where nothing would change.
  - Numbers and booleans keep their types with each version of ansible-core.
  - Do not give this task C(no_log). A status is readable anyway, and the engine could not read O(again).
  - Of a table in O(rules), what the first rule that holds has in O(ready), O(reason), O(message), O(again)
    and so on is reported.
extends_documentation_fragment: rolecall.operator.rules
options:
  ready:
    description:
      - Status of the condition C(Ready). Without it, C(Ready) stays as it is.
    type: str
    choices: ["true", "false", unknown]
  reason:
    description:
      - Reason of C(Ready), one word in camel case. Needed with O(ready).
      - Words that begin with V(Run) and a capital letter are the engine's own.
    type: str
  message:
    description: Message of C(Ready), for people. Only the first 1024 characters are written.
    type: str
    default: ""
  status:
    description:
      - Other fields of the status. Maps are merged, lists are replaced, and null removes a field.
    type: dict
    default: {}
  conditions:
    description: Other conditions, each replacing the one of its type.
    type: list
    elements: dict
    default: []
    suboptions:
      type:
        description: The condition's type, such as V(Progressing).
        type: str
        required: true
      status:
        description: V(True), V(False) or V(Unknown).
        type: str
        required: true
      reason:
        description: One word in camel case.
        type: str
      message:
        description: For people.
        type: str
  again:
    description:
      - After which time this object is reconciled again, such as V(5s) or V(1m30s).
      - Empty means as usual. In place of C(operator_sdk.util.requeue_after).
    type: str
    default: ""
  events:
    description: Events to post about the object.
    type: list
    elements: dict
    default: []
    suboptions:
      type:
        description: V(Normal) or V(Warning).
        type: str
        choices: [Normal, Warning]
        default: Normal
      reason:
        description: One word in camel case.
        type: str
        required: true
      message:
        description: For people.
        type: str
        default: ""
      name:
        description:
          - Makes it one Event for as long as the object exists. It is posted once, and again when its
            reason or its message changes.
          - Without it, each report counts as once more.
        type: str
  cr:
    description:
      - Another object to report on, whole, as a task has read it.
      - Without it, the object of this run, which is found for you.
    type: dict
author: The rolecall maintainers
attributes:
  check_mode:
    support: full
    description: Says what would change and writes nothing.
"""

EXAMPLES = r"""
- name: Report | the number of healthy members, and look again until all are
  rolecall.operator.report:
    ready: "{{ healthy == replicas }}"
    reason: "{{ 'Healthy' if healthy == replicas else 'Starting' }}"
    message: "{{ healthy }} of {{ replicas }} members are healthy"
    status:
      readyReplicas: "{{ healthy | int }}"
    again: "{{ '' if healthy == replicas else '5s' }}"

- name: Report | a backup that failed
  rolecall.operator.report:
    events:
      - type: Warning
        reason: BackupFailed
        message: "backup `{{ job }}` failed"
        name: "backup-failed.{{ job }}"
"""

RETURN = r"""
period:
  description: The time of O(again), where one was given.
  returned: when given
  type: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.rolecall.operator.plugins.module_utils.api import connect
from ansible_collections.rolecall.operator.plugins.module_utils.report import (
    InvalidReportError,
    Reporter,
    period_of,
    wanted_conditions,
)


def main():
    """Check the words, then write them."""
    text = {"type": "str", "default": ""}
    required = {"type": "str", "required": True}
    condition = {"type": required, "status": required, "reason": {"type": "str"}}
    event = {
        "type": {"type": "str", "choices": ["Normal", "Warning"], "default": "Normal"},
        "reason": required,
        "message": text,
        "name": {"type": "str"},
    }
    of_dicts = {"type": "list", "elements": "dict", "default": []}
    module = AnsibleModule(
        argument_spec={
            "ready": {"type": "str", "choices": ["true", "false", "unknown"]},
            "reason": {"type": "str"},
            "message": text,
            "status": {"type": "dict", "default": {}},
            "conditions": {**of_dicts, "options": {**condition, "message": {"type": "str"}}},
            "again": text,
            "events": {**of_dicts, "options": event},
            "cr": {"type": "dict"},
        },
        required_by={"ready": ["reason"]},
        supports_check_mode=True,
    )
    try:
        period = period_of(module.params["again"])
        conditions = wanted_conditions(module.params)
    except InvalidReportError as error:
        module.fail_json(msg=str(error))
    changed = Reporter(module, connect(module), conditions).run()
    module.exit_json(changed=changed, **period)


if __name__ == "__main__":
    main()
