"""Fails with a reason that `report_failure` hands on to `Ready`."""

from __future__ import annotations

import re
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.rolecall.operator.plugins.plugin_utils.rules import RuleTable
from ansible_collections.rolecall.operator.plugins.plugin_utils.typed import typed_arguments

_REASON = re.compile(r"[A-Za-z][A-Za-z0-9]*")


class ActionModule(ActionBase):
    """Computes only; it sends no requests."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _VALID_ARGS = frozenset(("reason", "message", "rules", "facts"))

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Fail, unless there is a table of which no rule holds."""
        variables = task_vars or {}
        result = super().run(tmp, variables)
        del tmp
        arguments = typed_arguments(self._task, self._templar, variables.get("omit"))
        refusals = self._refusals(arguments, variables)
        if not refusals:
            return result
        messages = [str(each.get("message") or "") for each in refusals]
        reason = str(refusals[0].get("reason") or "")
        if not _REASON.fullmatch(reason) or not all(messages):
            raise AnsibleActionFail(
                "`refuse` needs a `message`, and a `reason` that is one word in camel case"
            )
        return {**result, "failed": True, "msg": "; ".join(messages), "refusal": reason}

    def _refusals(self, arguments: dict[str, Any], variables: dict[str, Any]) -> list[dict[str, Any]]:
        rules = arguments.get("rules")
        if rules is None:
            return [arguments]
        if {"reason", "message"} & arguments.keys():
            raise AnsibleActionFail("`refuse` takes `rules`, or `reason` and `message`")
        return RuleTable(rules, self._templar, variables, arguments.get("facts") or {}).all()
