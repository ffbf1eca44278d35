#!/usr/bin/python
"""Sets a metric that the operator's metrics endpoint then shows."""

from __future__ import annotations

DOCUMENTATION = r"""
module: osdk_metric
short_description: Set a metric on the operator's metrics endpoint
description:
  - The first use of a name creates the metric; it lives as long as the operator's process.
  - Exactly one of O(counter), O(gauge), O(histogram) and O(summary) must be given.
options:
  name:
    description: Name of the metric, as Prometheus allows it.
    type: str
    required: true
  description:
    description: Help text, fixed at the first use of the name.
    type: str
    required: true
  address:
    description:
      - Where the operator listens. It sets E(ROLECALL_ROLE_METRICS) for its plays where it listens elsewhere.
      - Without both, V(http://localhost:5050/metrics).
    type: str
  counter:
    description: A number that only grows.
    type: dict
    suboptions:
      increment:
        description: Add one.
        type: bool
      add:
        description: Add this much; not negative.
        type: float
  gauge:
    description: A number that goes up and down.
    type: dict
    suboptions:
      set:
        description: Set it to this.
        type: float
      increment:
        description: Add one.
        type: bool
      decrement:
        description: Take one away.
        type: bool
      set_to_current_time:
        description: Set it to the seconds since 1970.
        type: bool
      add:
        description: Add this much.
        type: float
      subtract:
        description: Take this much away.
        type: float
  histogram:
    description: Counts observations in buckets.
    type: dict
    suboptions:
      observe:
        description: The value seen.
        type: float
  summary:
    description: Counts and sums observations.
    type: dict
    suboptions:
      observe:
        description: The value seen.
        type: float
author: The rolecall maintainers
attributes:
  check_mode:
    support: full
    description: Sends nothing in check mode.
"""

EXAMPLES = r"""
- name: Count backups
  operator_sdk.util.osdk_metric:
    name: etcd_backups_total
    description: Backups taken
    counter:
      increment: true
"""

RETURN = r"""
user_metric:
  description: What was sent.
  returned: always
  type: dict
"""

import json
import os

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.urls import fetch_url

DEFAULT_ADDRESS = "http://localhost:5050/metrics"


def _number():
    return {"type": "float"}


def _flag():
    return {"type": "bool"}


KINDS = {
    "counter": {"increment": _flag(), "add": _number()},
    "gauge": {
        "set": _number(),
        "increment": _flag(),
        "decrement": _flag(),
        "set_to_current_time": _flag(),
        "add": _number(),
        "subtract": _number(),
    },
    "histogram": {"observe": _number()},
    "summary": {"observe": _number()},
}


def main():
    """Send the metric; any answer but 200 fails with the operator's own words."""
    arguments = {
        "name": {"type": "str", "required": True},
        "description": {"type": "str", "required": True},
        "address": {"type": "str"},
    }
    arguments.update({kind: {"type": "dict", "options": o} for kind, o in KINDS.items()})
    module = AnsibleModule(
        argument_spec=arguments,
        mutually_exclusive=[list(KINDS)],
        required_one_of=[list(KINDS)],
        supports_check_mode=True,
    )
    metric = {key: module.params[key] for key in ("name", "description", *KINDS)}
    if not module.check_mode:
        _send(module, metric)
    module.exit_json(changed=True, user_metric=metric)


def _send(module, metric):
    address = (
        module.params["address"] or os.environ.get("ROLECALL_ROLE_METRICS") or DEFAULT_ADDRESS
    )
    answer, info = fetch_url(
        module,
        address,
        data=json.dumps(metric),
        headers={"Content-Type": "application/json"},
        method="POST",
        use_proxy=False,
    )
    if info["status"] != 200:
        said = info.get("body") or (answer.read() if answer else b"") or info["msg"]
        text = said.decode(errors="replace") if isinstance(said, bytes) else said
        module.fail_json(msg=text.strip(), status_code=info["status"])


if __name__ == "__main__":
    main()
