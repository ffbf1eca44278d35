"""Writes why a block failed to `Ready`, and fails with the same words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.rolecall.operator.plugins.plugin_utils.cr import found_cr
from ansible_collections.rolecall.operator.plugins.plugin_utils.failure import failure_of

MODULE = "rolecall.operator.report"


class ActionModule(ActionBase):
    """Runs with the task's variables, in which Ansible leaves what failed."""

    TRANSFERS_FILES = False
    _VALID_ARGS = frozenset()

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Report and fail; if the report cannot be written, the result still has the first failure."""
        variables = task_vars or {}
        result = super().run(tmp, variables)
        del tmp
        task = variables.get("ansible_failed_task")
        failed = variables.get("ansible_failed_result")
        if not isinstance(task, Mapping) or not isinstance(failed, Mapping):
            raise AnsibleActionFail(
                "`report_failure` is for the `rescue` of a block: there is no failed task to report"
            )
        failure = failure_of(task, failed)
        words = failure.words
        if unwritten := self._write(failure, variables):
            words += f" (and `Ready` could not be written: {unwritten})"
        outcome = {"msg": words, "ready_reason": failure.reason, "failed_task": failure.task}
        return {**result, **outcome, "failed": True}

    def _write(self, failure: Any, variables: dict[str, Any]) -> str:
        """Why it could not be written; empty where it was."""
        arguments = {
            "ready": "false",
            "reason": failure.reason,
            "message": failure.message,
            "cr": found_cr(variables),
        }
        said = self._execute_module(MODULE, module_args=arguments, task_vars=variables)
        return str(said.get("msg") or "it failed") if said.get("failed") else ""
