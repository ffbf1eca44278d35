"""Finds the object of this run, and hands what is said of it to the module of the same name."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.rolecall.operator.plugins.plugin_utils.cr import found_cr, named_cr
from ansible_collections.rolecall.operator.plugins.plugin_utils.rules import RuleTable
from ansible_collections.rolecall.operator.plugins.plugin_utils.typed import typed_arguments

MODULE = "rolecall.operator.report"


class ActionModule(ActionBase):
    """Runs with the task's variables, which a module does not have."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Report, and return what the module says."""
        variables = task_vars or {}
        result = super().run(tmp, variables)
        del tmp
        arguments = typed_arguments(self._task, self._templar, variables.get("omit"))
        arguments = {name: value for name, value in arguments.items() if value is not None}
        rules, facts = (arguments.pop(name, None) for name in ("rules", "facts"))
        if rules is not None:
            table = RuleTable(rules, self._templar, variables, facts or {})
            arguments = _joined(arguments, table.first())
        if isinstance(ready := arguments.get("ready"), (bool, str)):
            arguments["ready"] = str(ready).lower()
        other = arguments.get("cr")
        arguments["cr"] = found_cr(variables) if other is None else named_cr(other)
        said = self._execute_module(MODULE, module_args=arguments, task_vars=variables)
        return {**result, **said}


def _joined(arguments: dict[str, Any], rule: dict[str, Any]) -> dict[str, Any]:
    """What the task says, and what the rule says."""
    said = {name: value for name, value in rule.items() if name != "rule"}
    if both := sorted(said.keys() & arguments.keys()):
        raise AnsibleActionFail(f"`{both[0]}` is given by the task and by the rule; leave one out")
    return {**arguments, **said}
