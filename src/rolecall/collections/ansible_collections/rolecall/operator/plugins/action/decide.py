"""Takes the first rule of a table whose condition holds."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.rolecall.operator.plugins.plugin_utils.rules import RuleTable
from ansible_collections.rolecall.operator.plugins.plugin_utils.typed import typed_arguments


class ActionModule(ActionBase):
    """Computes only; it sends no requests."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _VALID_ARGS = frozenset(("rules", "facts"))

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """What follows from the rule."""
        variables = task_vars or {}
        result = super().run(tmp, variables)
        del tmp
        arguments = typed_arguments(self._task, self._templar, variables.get("omit"))
        table = RuleTable(
            arguments.get("rules"), self._templar, variables, arguments.get("facts") or {}
        )
        return {**result, **table.first()}
