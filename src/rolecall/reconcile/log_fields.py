"""How this room's log lines name the CR that they are about."""

from __future__ import annotations

from rolecall.workqueue import Key


def about(key: Key, **fields: object) -> dict[str, dict[str, object]]:
    """The `extra` of a log record: the CR's place first, then what varies."""
    place = {"kind": key.gvk.kind, "namespace": key.namespace, "name": key.name}
    return {"fields": {**place, **fields}}
