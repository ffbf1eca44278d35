"""Fails with a reason that `report_failure` hands on to `Ready`."""

from __future__ import annotations

import re
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

_REASON = re.compile(r"[A-Za-z][A-Za-z0-9]*")


class ActionModule(ActionBase):
    """Computes only; it asks nobody."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _VALID_ARGS = frozenset(("reason", "message"))

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Fail."""
        result = super().run(tmp, task_vars)
        del tmp
        reason, message = (str(self._task.args.get(name) or "") for name in ("reason", "message"))
        if not _REASON.fullmatch(reason) or not message:
            raise AnsibleActionFail(
                "`refuse` needs a `message`, and a `reason` that is one word in camel case"
            )
        return {**result, "failed": True, "msg": message, "refusal": reason}
