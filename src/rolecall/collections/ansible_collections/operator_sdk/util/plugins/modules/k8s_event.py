#!/usr/bin/python
"""Posts, updates or deletes a Kubernetes Event."""

from __future__ import annotations

DOCUMENTATION = r"""
module: k8s_event
short_description: Post a Kubernetes Event
description:
  - Posts an Event under a name. Where an Event of that name and the same reason exists, its count grows.
options:
  state:
    description: V(absent) deletes the Event of that name.
    type: str
    choices: [present, absent]
    default: present
  merge_type:
    description: How an existing Event is patched; the first that the server takes.
    type: list
    elements: str
    choices: [json, merge, strategic-merge]
  name:
    description: The Event's name.
    type: str
    required: true
  namespace:
    description: The Event's namespace.
    type: str
    required: true
  message:
    description: For people.
    type: str
    required: true
  reason:
    description: One word for machines.
    type: str
    required: true
  type:
    description: V(Normal) or V(Warning).
    type: str
    choices: [Normal, Warning]
  reportingComponent:
    description: The controller that speaks, such as V(example.com/backup).
    type: str
  source:
    description: Who speaks, in the older form.
    type: dict
    suboptions:
      component:
        description: Name of the component.
        type: str
        required: true
  involvedObject:
    description: What the Event is about. Its uid is looked up where it exists.
    type: dict
    suboptions:
      apiVersion:
        description: The object's C(apiVersion).
        type: str
        required: true
      kind:
        description: The object's kind.
        type: str
        required: true
      name:
        description: The object's name.
        type: str
        required: true
      namespace:
        description: The object's namespace.
        type: str
        required: true
  appendTimestamp:
    description: Give every Event a name of its own, by adding the time to O(name).
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
- name: Report a backup
  operator_sdk.util.k8s_event:
    name: "{{ ansible_operator_meta.name }}.backup"
    namespace: "{{ ansible_operator_meta.namespace }}"
    message: Backup 2026-11-21 was taken
    reason: BackupTaken
    type: Normal
    reportingComponent: example.com/backup
    involvedObject:
      apiVersion: mycompany.com/v1alpha1
      kind: EtcdCluster
      name: "{{ ansible_operator_meta.name }}"
      namespace: "{{ ansible_operator_meta.namespace }}"
"""

RETURN = r"""
result:
  description: The Event after the change.
  returned: success
  type: dict
"""

from datetime import datetime, timezone

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.rolecall.operator.plugins.module_utils.api import (
    AUTH_ARGUMENTS,
    ApiError,
    Resource,
    connect,
)

EVENTS = Resource("/api/v1", "events", namespaced=True, has_status=False)
CONTENT_TYPES = {
    "merge": "application/merge-patch+json",
    "strategic-merge": "application/strategic-merge-patch+json",
    # A JSON patch is a list of operations; an Event is written whole here, so it means a merge.
    "json": "application/merge-patch+json",
}
UNSUPPORTED_MEDIA_TYPE = 415


def _now():
    return datetime.now(timezone.utc)


def stamped_name(name, moment):
    """The name with the time, as a legal object name: client-go stamps its Events likewise."""
    return f"{name}.{int(moment.timestamp() * 1_000_000):x}"


class EventWriter:
    """Brings one Event to what the task wants."""

    def __init__(self, module, api):
        self.module = module
        self.api = api
        self.params = module.params
        self.moment = _now()
        name = self.params["name"]
        self.name = stamped_name(name, self.moment) if self.params["appendTimestamp"] else name
        self.path = EVENTS.path(self.params["namespace"], self.name)

    def run(self):
        """Create, update or delete."""
        existing = None if self.params["appendTimestamp"] else self._find(self.path)
        if self.params["state"] == "absent":
            return self._delete(existing)
        wanted = self._wanted(existing)
        if self.module.check_mode:
            return {"changed": True, "result": wanted}
        if existing is None:
            result = self.api.request("POST", EVENTS.path(self.params["namespace"]), wanted)
            return {"changed": True, "result": result}
        result = self._patch(wanted)
        return {"changed": _content(result) != _content(existing), "result": result}

    def _find(self, path):
        try:
            return self.api.request("GET", path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def _delete(self, existing):
        if existing is not None and not self.module.check_mode:
            self.api.request("DELETE", self.path)
        return {"changed": existing is not None, "result": existing or {}}

    def _patch(self, wanted):
        types = [CONTENT_TYPES[name] for name in self.params["merge_type"] or ["strategic-merge"]]
        for content_type in types[:-1]:
            try:
                return self.api.request("PATCH", self.path, wanted, content_type)
            except ApiError as error:
                if error.status != UNSUPPORTED_MEDIA_TYPE:
                    raise
        return self.api.request("PATCH", self.path, wanted, types[-1])

    def _wanted(self, existing):
        now = self.moment.strftime("%Y-%m-%dT%H:%M:%SZ")
        same = existing is not None and existing.get("reason") == self.params["reason"]
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": self.name, "namespace": self.params["namespace"]},
            "message": self.params["message"],
            "reason": self.params["reason"],
            "count": existing.get("count", 1) + 1 if same else 1,
            "firstTimestamp": existing.get("firstTimestamp", now) if same else now,
            "lastTimestamp": now,
            "involvedObject": self._involved(),
        }
        for key in ("type", "reportingComponent", "source"):
            if self.params[key] is not None:
                event[key] = self.params[key]
        return event

    def _involved(self):
        given = self.params["involvedObject"]
        if given is None:
            return {"namespace": self.params["namespace"]}
        resource = self.api.find_resource(given["apiVersion"], given["kind"])
        found = resource and self._find(resource.path(given["namespace"], given["name"]))
        if not found:
            return given
        metadata = found["metadata"]
        return {**given, "uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}


def _content(event):
    ignored = ("resourceVersion", "managedFields")
    metadata = {k: v for k, v in event["metadata"].items() if k not in ignored}
    return {**event, "metadata": metadata}


def main():
    """Post the Event; a refusal fails with the server's words."""
    text = {"type": "str"}
    required = {"type": "str", "required": True}
    module = AnsibleModule(
        argument_spec={
            **AUTH_ARGUMENTS,
            "state": {"type": "str", "default": "present", "choices": ["present", "absent"]},
            "merge_type": {"type": "list", "elements": "str", "choices": list(CONTENT_TYPES)},
            "name": required,
            "namespace": required,
            "message": required,
            "reason": required,
            "type": {"type": "str", "choices": ["Normal", "Warning"]},
            "reportingComponent": text,
            "source": {"type": "dict", "options": {"component": required}},
            "involvedObject": {
                "type": "dict",
                "options": {key: required for key in ("apiVersion", "kind", "name", "namespace")},
            },
            "appendTimestamp": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    try:
        result = EventWriter(module, connect(module)).run()
    except ApiError as error:
        module.fail_json(msg=f"Unable to create event: {error}", error=error.facts())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
