"""Rights for what follows from what runs read and wrote: to prune, and to watch what was read.

What a role reads through a shell or with kinds that only a run knows is not found here; the engine then
says which rule lacks.
"""

from __future__ import annotations

from collections.abc import Iterable

from rolecall.extensions.prune import must_be_named
from rolecall.gvk import Gvk
from rolecall.watches import Watch
from rolecall_dev.rbac.kinds import KindNames
from rolecall_dev.rbac.rights import Right, Rights

_MAKING = frozenset({"create", "update", "patch"})
_READING = frozenset({"get", "list"})


def add_for_record(watch: Watch, own: Rights, kinds: KindNames, rights: Rights) -> None:
    """Given what the watch's own play does."""
    if watch.prune is not None:
        named = _resources(watch.prune.kinds, kinds)
        made = [it for it in own if it.verb in _MAKING and _is_whole(it)]
        for right in made:
            place = right.group, right.resource
            if not must_be_named(*place) or place in named:
                rights.add(*place, ("get", "delete"), f"pruning, for {watch.gvk.kind}")
    if watch.watch_reads is not None:
        named = _resources(watch.watch_reads, kinds)
        for right in own:
            place = right.group, right.resource
            is_wanted = not watch.watch_reads or place in named
            if right.verb in _READING and _is_whole(right) and is_wanted:
                rights.add(*place, ("list", "watch"), f"watched reads, for {watch.gvk.kind}")


def _resources(named: Iterable[Gvk], kinds: KindNames) -> set[tuple[str, str]]:
    return {(gvk.group, kinds.resource(gvk.group, gvk.kind)[0]) for gvk in named}


def _is_whole(right: Right) -> bool:
    return "/" not in right.resource
