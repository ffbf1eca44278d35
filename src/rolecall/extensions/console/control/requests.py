"""Which CRs a request means, or why none."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any

from rolecall.extensions.console.division import KeyHolders
from rolecall.json_object import Json
from rolecall.reconcile import Progress
from rolecall.workqueue import Key

_MOST_NAMED = 20


class RequestRefused(Exception):  # noqa: N818 - an answer
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def keys_of(asked: Json, known: Collection[Key]) -> list[Key]:
    """The keys of `{"kind", "namespace", "name"}`, `{"all": true}` or `{"kind", "all": true}`."""
    kind, name, namespace = (text_of(asked, field) for field in ("kind", "name", "namespace"))
    if not (asked.get("all") is True or (kind and name)):
        raise RequestRefused(400, 'say `kind` and `name`, or `"all": true`')
    of_kind = [key for key in sorted(known) if not kind or key.gvk.kind.lower() == kind.lower()]
    if not of_kind and kind:
        kinds = sorted({key.gvk.kind for key in known})
        raise RequestRefused(
            404, f"there is no {kind}; {_there_are(kinds, kind, 'kinds with objects')}"
        )
    if asked.get("all") is True:
        return [key for key in of_kind if not namespace or key.namespace == namespace]
    found = [
        key
        for key in of_kind
        if key.name == name and (not namespace or key.namespace in (namespace, ""))
    ]
    places = {key.namespace for key in found}
    if len(places) > 1:
        raise RequestRefused(
            404, f"{kind} {name} is in {', '.join(sorted(places))}: say which namespace"
        )
    if not found:
        wanted = f"{namespace}/{name}" if namespace else name
        names = [f"{key.namespace}/{key.name}".lstrip("/") for key in of_kind]
        raise RequestRefused(
            404, f"there is no {kind} {wanted}; {_there_are(names, wanted, 'there are')}"
        )
    return found


def own_of(asked: Mapping[str, Any], keys: list[Key], holders: KeyHolders) -> list[Key]:
    """Of all, those that this replica has; one that was named and is another's is refused."""
    own = [key for key in keys if holders.of(key).is_self]
    if own or asked.get("all") is True:
        return own
    holder = holders.of(keys[0])
    ask = "ask there" if holder.replica else "it is reconciled as soon as one takes it"
    raise RequestRefused(409, f"this replica does not have {keys[0]}: {holder}, so {ask}")


def run_in_flight(key: Key, in_flight: Mapping[Key, Progress], run: str) -> Progress:
    """The run of this key; `run`: its id, or the first characters of it."""
    progress = in_flight.get(key)
    if progress is None:
        raise RequestRefused(409, f"no run of {key} is in flight, so there is nothing to stop")
    if not progress.run_id.startswith(run):
        raise RequestRefused(
            409, f"run {run} of {key} is not in flight; the current one is {progress.run_id}"
        )
    return progress


def text_of(asked: Mapping[str, Any], field: str) -> str:
    """A field of the request; raises `RequestRefused` where it is not a string."""
    value = asked.get(field) or ""
    if not isinstance(value, str):
        raise RequestRefused(400, f"`{field}` is not a string")
    return value


def _there_are(names: Collection[str], wanted: str, what: str) -> str:
    """The nearest ones first, and no thousand."""
    if not names:
        return "no object of a watched kind is known"
    near = difflib.get_close_matches(wanted, names, n=3)
    ordered = [*near, *(name for name in names if name not in near)]
    more = f" and {len(ordered) - _MOST_NAMED} more" if len(ordered) > _MOST_NAMED else ""
    return f"{what}: {', '.join(ordered[:_MOST_NAMED])}{more}"
