"""The fields by which a log line says which CR it is about: the same ones, first, in every line."""

from __future__ import annotations

from rolecall.log_fields import log_fields
from rolecall.workqueue import Key


def key_fields(key: Key, **more: object) -> dict[str, dict[str, object]]:
    return log_fields(kind=key.gvk.kind, namespace=key.namespace, name=key.name, **more)
