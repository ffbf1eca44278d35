"""Where pages are: addresses of CRs and runs, made and read."""

from __future__ import annotations

from urllib.parse import quote

from rolecall.gvk import Gvk
from rolecall.workqueue import Key

_CORE, _NO_NAMESPACE = "core", "-"


def of_cr(key: Key) -> str:
    gvk = key.gvk
    parts = (gvk.group or _CORE, gvk.version, gvk.kind, key.namespace or _NO_NAMESPACE, key.name)
    return "/cr/" + "/".join(map(_segment, parts))


def of_run(key: Key, run: str) -> str:
    return f"{of_cr(key)}/runs/{_segment(run)}"


def of_action(key: Key, action: str, run: str = "") -> str:
    """Where it is asked about; `run`: the one that it is about."""
    return f"{of_cr(key)}/{action}{f'?run={_segment(run)}' if run else ''}"


def of_task_id(key: Key, run: str, task: str) -> str:
    """Leads to the task of a run, by the id that its record has."""
    return f"{of_run(key, run)}/task-ids/{_segment(task)}"


def of_object(key: Key, group: str, version: str, kind: str, namespace: str, name: str) -> str:
    """An object that belongs to a CR, or the CR itself; `kind` may be the plural."""
    parts = (group or _CORE, version, kind, namespace or _NO_NAMESPACE, name)
    return f"{of_cr(key)}/objects/" + "/".join(map(_segment, parts))


def of_plan(key: Key) -> str:
    return f"{of_cr(key)}/plan"


def of_comparison(key: Key, first: str, second: str) -> str:
    return f"{of_cr(key)}/compare/{_segment(first)}/{_segment(second)}"


def key_of(group: str, version: str, kind: str, namespace: str, name: str) -> Key:
    """The CR of an address."""
    gvk = Gvk("" if group == _CORE else group, version, kind)
    return Key(gvk, "" if namespace == _NO_NAMESPACE else namespace, name)


def _segment(text: str) -> str:
    return quote(text, safe="", errors="replace")
