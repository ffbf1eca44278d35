#!/usr/bin/python
"""Sets the status of an object through its status subresource."""

from __future__ import annotations

DOCUMENTATION = r"""
module: k8s_status
short_description: Set the status of a Kubernetes object
description:
  - Changes only what is given; other keys of the status and conditions of other types stay.
  - Writes nothing where nothing would change.
options:
  api_version:
    description: The object's C(apiVersion).
    type: str
    default: v1
    aliases: [api, version]
  kind:
    description: The object's kind.
    type: str
    required: true
  name:
    description: The object's name.
    type: str
    required: true
  namespace:
    description: The object's namespace; not for cluster-scoped kinds.
    type: str
  status:
    description: Keys to set in the status.
    type: dict
  conditions:
    description:
      - Conditions to set, each replacing the one of the same type if it differs.
      - C(lastTransitionTime) is filled in when the status of the condition changes.
    type: list
    elements: dict
    suboptions:
      type:
        description: The condition's type, such as V(Ready).
        type: str
        required: true
      status:
        description: V(True), V(False) or V(Unknown).
        type: str
        required: true
      reason:
        description: One word in camel case; digits are allowed after the first letter.
        type: str
      message:
        description: For people.
        type: str
      lastHeartbeatTime:
        description: RFC 3339.
        type: str
      lastTransitionTime:
        description: RFC 3339.
        type: str
  replace:
    description: Replace the whole status instead of merging into it.
    type: bool
    default: false
    aliases: [force]
  replace_lists:
    description: Compare lists other than conditions for equality instead of containment.
    type: bool
    default: false
extends_documentation_fragment: operator_sdk.util.api
author: The rolecall maintainers
attributes:
  check_mode:
    support: full
    description: Says what would change and writes nothing.
"""

EXAMPLES = r"""
- name: Report how many replicas are ready
  operator_sdk.util.k8s_status:
    api_version: tools.rolecall.dev/v1
    kind: Appoperator
    name: "{{ ansible_operator_meta.name }}"
    namespace: "{{ ansible_operator_meta.namespace }}"
    status:
      readyReplicas: 3
"""

RETURN = r"""
result:
  description: The object after the change.
  returned: success
  type: dict
"""

import copy
from datetime import datetime, timezone

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.rolecall.operator.plugins.module_utils.api import (
    AUTH_ARGUMENTS,
    ApiError,
    connect,
)
from ansible_collections.rolecall.operator.plugins.module_utils.status import (
    InvalidConditionsError,
    checked_conditions,
    contains,
    merged_conditions,
)

ATTEMPTS = 5  # a status that others write too conflicts now and then; five in a row is a fight


class StatusWriter:
    """Reads one object and brings its status to what the task wants."""

    def __init__(self, module, api, resource, conditions):
        self.module = module
        self.api = api
        self.path = resource.path(module.params["namespace"], module.params["name"])
        self.conditions = conditions

    def run(self):
        """Read, compare, write; again after a conflict with another client."""
        for attempt in range(ATTEMPTS):
            current = self._read()
            body, content_type, method = self._change(current)
            if body is None or self.module.check_mode:
                return {"changed": body is not None, "result": current}
            try:
                result = self.api.request(method, f"{self.path}/status", body, content_type)
            except ApiError as error:
                if error.status == 409 and attempt + 1 < ATTEMPTS:
                    continue
                self.module.fail_json(
                    msg=f"Failed to replace status: {error}", error=error.facts()
                )
            version = "resourceVersion"
            changed = result["metadata"][version] != current["metadata"][version]
            return {"changed": changed, "result": result}
        raise AssertionError("the last attempt returns or fails")

    def _read(self):
        try:
            return self.api.request("GET", self.path)
        except ApiError as error:
            self.module.fail_json(
                msg=f"Failed to retrieve requested object: {error}", error=error.facts()
            )

    def _change(self, current):
        """Body, content type and method of the write, or None where there is nothing to write."""
        status = current.get("status") or {}
        wanted = copy.deepcopy(self.module.params["status"]) or {}
        if not wanted and not self.conditions:
            return None, "", ""
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        if self.conditions:
            existing = [] if self.module.params["replace"] else status.get("conditions") or []
            wanted["conditions"] = merged_conditions(existing, self.conditions, now)
        if self.module.params["replace"]:
            if self.conditions:
                wanted["conditions"] = _kept_times(status, wanted["conditions"])
            body = {**current, "status": wanted}
            return (None if wanted == status else body), "application/json", "PUT"
        conditions_same = wanted.get("conditions", status.get("conditions")) == status.get("conditions")
        rest = {key: value for key, value in wanted.items() if key != "conditions"}
        if conditions_same and contains(status, rest, self.module.params["replace_lists"]):
            return None, "", ""
        body = {"status": wanted}
        if "conditions" in wanted:  # a list is written whole: it must not hide another's write
            body["metadata"] = {"resourceVersion": current["metadata"]["resourceVersion"]}
        return body, "application/merge-patch+json", "PATCH"


def _kept_times(status, conditions):
    """In replace mode too, a condition that did not change keeps its time."""
    return [
        merged_conditions(
            [old for old in status.get("conditions") or [] if old.get("type") == new["type"]],
            [{k: v for k, v in new.items() if k != "lastTransitionTime"}],
            new["lastTransitionTime"],
        )[0]
        for new in conditions
    ]


def main():
    """Check the arguments, find the kind, write the status."""
    module = AnsibleModule(
        argument_spec={
            **AUTH_ARGUMENTS,
            "api_version": {"type": "str", "default": "v1", "aliases": ["api", "version"]},
            "kind": {"type": "str", "required": True},
            "name": {"type": "str", "required": True},
            "namespace": {"type": "str"},
            "status": {"type": "dict"},
            "conditions": {"type": "list", "elements": "dict"},
            "replace": {"type": "bool", "default": False, "aliases": ["force"]},
            "replace_lists": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    try:
        conditions = checked_conditions(module.params["conditions"])
    except InvalidConditionsError as error:
        module.fail_json(msg="The specified conditions failed to validate", error=str(error))
    if conditions and "conditions" in (module.params["status"] or {}):
        module.fail_json(
            msg="You cannot specify conditions in both the 'status' and 'conditions' parameters"
        )
    api = connect(module)
    module.exit_json(**StatusWriter(module, api, _resource(module, api), conditions).run())


def _resource(module, api):
    version, kind = module.params["api_version"], module.params["kind"]
    try:
        resource = api.find_resource(version, kind)
    except ApiError as error:
        module.fail_json(msg=f"Failed to get client: {error}", error=error.facts())
    if resource is None:
        module.fail_json(msg=f"Failed to find exact match for {version}.{kind} by kind or name")
    if not resource.has_status:
        module.fail_json(
            msg=f"Resource {version}.{kind} does not support the status subresource"
        )
    return resource


if __name__ == "__main__":
    main()
