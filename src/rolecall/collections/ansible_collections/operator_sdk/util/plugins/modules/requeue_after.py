#!/usr/bin/python
"""Asks the engine for the next reconcile of this CR after a time."""

from __future__ import annotations

DOCUMENTATION = r"""
module: requeue_after
short_description: Ask for the next reconcile of this CR after a time
description:
  - The play goes on to its end, its result is written to the CR's status as always, and the CR is then
    reconciled again after O(time), in place of its usual period.
  - Use it instead of a long wait in a task, which would keep a worker busy.
  - Where several tasks ask, the last one wins.
options:
  time:
    description:
      - A duration with a unit, such as V(30s), V(5m) or V(1h30m).
      - V(0s) means that nothing is scheduled; only events bring the CR back.
    type: str
    required: true
author: The rolecall maintainers
attributes:
  check_mode:
    support: full
    description: Says the same in check mode; it never changes anything.
"""

EXAMPLES = r"""
- name: Come back while the rollout is in progress
  operator_sdk.util.requeue_after:
    time: 10s
  when: deployment.status.readyReplicas | default(0) < replicas
"""

RETURN = r"""
period:
  description: The duration that was asked for.
  returned: success
  type: str
"""

import re

from ansible.module_utils.basic import AnsibleModule

_DURATION = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)")


def is_duration(text):
    """Whether an engine can parse it: `0`, or numbers each with a unit."""
    return text == "0" or (bool(text) and _DURATION.sub("", text) == "")


def main():
    """Check the time and hand it back; the engine reads the result of this task."""
    module = AnsibleModule(
        argument_spec={"time": {"type": "str", "required": True}}, supports_check_mode=True
    )
    time = module.params["time"]
    if not is_duration(time):
        module.fail_json(
            msg=f"invalid time input: `{time}` is not a duration; use a number and a unit,"
            " such as 30s or 5m"
        )
    module.exit_json(changed=False, period=time)


if __name__ == "__main__":
    main()
