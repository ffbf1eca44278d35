"""Decides for each field whose write counts: that of a kept run, or that of a field manager.

There are two sources. Records contain the task that set a field, but no writes of other programs.
`managedFields` contains the current owner of a field, by a name that many programs share, with times in
whole seconds, and not the time at which this field changed. So we take the newest kept write that set
the field, unless its manager lost the field to another manager since that write.

The hard part is a field that a manager owns although no recorded body contains it: the API server set
its default when a field beside it was set. We assign it to the first kept write of that manager that
set a field beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from rolecall.extensions.console.blame.fields import LiveField
from rolecall.extensions.console.blame.managers import ManagedEntry
from rolecall.extensions.console.blame.writes import Write
from rolecall.record import steps_of_path

# Between the API server's clock and ours, beside the whole seconds that it counts.
_TOLERANCE = timedelta(seconds=2)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_END = ""  # marks in a tree that a path ends here


@dataclass(frozen=True, slots=True)
class Blamed:
    """A field with its last write or its manager; a field without both has no owner, as a default."""

    field: LiveField
    write: Write | None = None
    manager: ManagedEntry | None = None
    is_filled_in: bool = False  # the API server set it when that write came
    # The manager of that write wrote again later, in no kept run; which field is not known.
    is_doubtful: bool = False


def blame(fields: Sequence[LiveField], writes: Sequence[Write]) -> list[Blamed]:
    """One for each field; `writes` are of one object, of all kept runs, newest first."""
    known = [(write, _tree_of(write.leaves)) for write in writes]
    newest: dict[str, datetime] = {}
    for write in writes:
        newest[write.manager] = max(newest.get(write.manager, _LONG_AGO), write.ended)
    return [_blamed(field, known, newest) for field in fields]


_Known = Sequence[tuple[Write, Mapping[str, Any]]]


def _blamed(field: LiveField, known: _Known, newest: Mapping[str, datetime]) -> Blamed:
    if field.is_identity:
        return Blamed(field)
    write = _last_that_set(field, known)
    latest = max(field.owners, key=_time_of, default=None)
    if write is None:
        if latest is None:
            return Blamed(field)
        beside = _first_beside(field, latest, known, newest)
        if beside is not None:
            return Blamed(field, beside, latest, is_filled_in=True)
        return Blamed(field, manager=latest)
    own = next((each for each in field.owners if _is_by(each, write)), None)
    if own is None and latest is not None and _is_since(latest, write):
        return Blamed(field, manager=latest)
    is_doubtful = own is not None and _time_of(own) > newest[write.manager] + _TOLERANCE
    return Blamed(field, write, own, is_doubtful=is_doubtful)


def _last_that_set(field: LiveField, known: _Known) -> Write | None:
    """The newest write that set it, and after which no write took it back."""
    let_go: set[str] = set()  # managers that applied without it
    for write, tree in known:
        if not _concerns(write, field):
            continue
        if _is_set(field.steps, tree):
            if not (write.is_apply and write.manager in let_go):
                return write
        elif write.names_all and write.is_whole:
            return None
        elif write.names_all and write.is_apply:
            let_go.add(write.manager)
    return None


def _concerns(write: Write, field: LiveField) -> bool:
    """Through `status`, the API server takes the status alone, and through the object all else."""
    through = {owner.subresource for owner in field.owners}
    is_status = field.keys[0] == "status"
    if write.subresource == "status":
        return is_status
    return not is_status or "status" not in through


def _first_beside(
    field: LiveField, owner: ManagedEntry, known: _Known, newest: Mapping[str, datetime]
) -> Write | None:
    last = newest.get(owner.manager)
    if owner.operation == "Apply" or last is None or _time_of(owner) > last + _TOLERANCE:
        return None
    since = _since_whole(field, known)
    oldest_first = [each for each in reversed(since) if each[0].manager == owner.manager]
    for depth in range(len(field.steps) - 1, 0, -1):
        for write, tree in oldest_first:
            if _concerns(write, field) and _is_touched(field.steps[:depth], tree):
                return write
    # What is filled in at the root comes with the object.
    return next((write for write, _ in oldest_first if write.is_whole), None)


def _since_whole(field: LiveField, known: _Known) -> _Known:
    """The newest writes, down to the one that said all."""
    for number, (write, _) in enumerate(known):
        if write.is_whole and write.names_all and _concerns(write, field):
            return known[: number + 1]
    return known


def _is_by(owner: ManagedEntry, write: Write) -> bool:
    named = (owner.manager, owner.operation == "Apply", owner.subresource)
    return named == (write.manager, write.is_apply, write.subresource)


def _is_since(owner: ManagedEntry, write: Write) -> bool:
    """Whether it may have come after the write; the API server counts whole seconds."""
    return _time_of(owner) >= write.ended.replace(microsecond=0)


def _time_of(owner: ManagedEntry) -> datetime:
    return owner.at or _LONG_AGO


def _tree_of(paths: Sequence[str]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path in paths:
        steps = steps_of_path(path)
        if not steps:
            continue  # cut, or of a release that wrote paths otherwise
        node = tree
        for step in steps:
            node = node.setdefault(step, {})
        node[_END] = True
    return tree


def _is_set(steps: Sequence[tuple[str, ...]], tree: Mapping[str, Any]) -> bool:
    """Whether the field is in the tree, or something around it as a whole."""
    if _END in tree:
        return True
    return bool(steps) and any(_is_set(steps[1:], tree[name]) for name in steps[0] if name in tree)


def _is_touched(steps: Sequence[tuple[str, ...]], tree: Mapping[str, Any]) -> bool:
    """Whether anything below the place is in the tree."""
    return not steps or any(_is_touched(steps[1:], tree[name]) for name in steps[0] if name in tree)
