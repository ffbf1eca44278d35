"""Which writes of a process touch the conditions of a CR, which are the operator's."""

from __future__ import annotations

import json
from typing import Any

from rolecall.proxy.exchange import Exchange

_POINTER = "/status/conditions"


def may_write_conditions(exchange: Exchange) -> bool:
    """Whether a request could touch conditions that it must leave alone."""
    info = exchange.info
    is_change = exchange.method in {"PATCH", "PUT"} and info.subresource in {"", "status"}
    return is_change and info.group in {group for group, _ in exchange.credential.conditions_kept}


def writes_conditions(body: bytes) -> bool:
    """Whether a body names conditions; what cannot be read is for the API server to judge."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return _POINTER.rpartition("/")[2].encode() in body  # YAML of an apply
    steps = document if isinstance(document, list) else []
    return _names_conditions(document) or any(_touches(step) for step in steps)


def _names_conditions(document: Any) -> bool:
    status = document.get("status") if isinstance(document, dict) else None
    return isinstance(status, dict) and "conditions" in status


def _touches(step: Any) -> bool:
    path = str(step.get("path")) if isinstance(step, dict) else ""
    if path in {"", "/status"}:
        return True
    return f"{path}/".startswith(f"{_POINTER}/")
