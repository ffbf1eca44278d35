#!/usr/bin/python
"""Evicts one pod: deletes it where its disruption budgets allow that.

`kubernetes.core` evicts only all pods of a node that it drains, and deletes pods without asking.
"""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.rolecall.operator.plugins.module_utils.api import (
    AUTH_ARGUMENTS,
    ApiError,
    connect,
    message_of,
)

DOCUMENTATION = r"""
module: evict
short_description: Evict a pod, as its disruption budgets allow
description:
  - Deletes a pod through its subresource C(eviction), so that a PodDisruptionBudget can hold it back.
  - A pod that is held back is not a failure. The result says so, and the role tries again later.
options:
  namespace:
    description: Namespace of the pod.
    type: str
    required: true
  name:
    description: Name of the pod. One that is not there is evicted.
    type: str
    required: true
author: The rolecall maintainers
"""

EXAMPLES = r"""
- name: Step | take the pod that is next
  rolecall.operator.evict:
    namespace: "{{ ansible_operator_meta.namespace }}"
    name: "{{ next_pod }}"
  register: evicted
"""

RETURN = r"""
held:
  description: Why a disruption budget holds the pod back; empty where it is evicted.
  returned: always
  type: str
"""

_HELD = 429


def main():
    """Evict it."""
    arguments = {name: {"type": "str", "required": True} for name in ("namespace", "name")}
    module = AnsibleModule(argument_spec=AUTH_ARGUMENTS | arguments, supports_check_mode=True)
    namespace, name = module.params["namespace"], module.params["name"]
    if module.check_mode:
        module.exit_json(changed=True, held="")
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": namespace},
    }
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
    try:
        connect(module).request("POST", path, eviction)
    except ApiError as error:
        if error.status == 404:
            module.exit_json(changed=False, held="")
        if error.status == _HELD:
            module.exit_json(changed=False, held=message_of(error.body))
        module.fail_json(msg=f"could not evict pod `{name}`: {error}", error=error.facts())
    module.exit_json(changed=True, held="")


if __name__ == "__main__":
    main()
