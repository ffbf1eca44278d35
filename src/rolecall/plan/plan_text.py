"""Turns what happened in a plan's world into its report: objects, with their tasks and certainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from rolecall.extending import Foreseen
from rolecall.gvk import Gvk
from rolecall.plan.differences import compared
from rolecall.plan.model import Certainty, PlannedChange, PlannedObject, PlanNote, TaskPlace
from rolecall.plan.overlay import ObjectIdentity, Overlaid
from rolecall.plan.world import PlanWorld
from rolecall.record import RunRecord


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that the run child did not do, because it plans."""

    kind: str
    what: str
    at: TaskPlace
    at_s: float
    is_registered: bool  # a later task may look at what came of it


def objects_of_plan(
    world: PlanWorld,
    record: RunRecord | None,
    left_out: Sequence[LeftOut],
    cr: tuple[Gvk, ObjectIdentity],
    hide: Callable[[Any], Any],
) -> list[PlannedObject]:
    """What would be created, changed and deleted, in the order of the first writes."""
    written = sorted(
        (each for each in world.overlay if each.written_at_s), key=lambda each: each.written_at_s[0]
    )
    for each in written:
        _doubt_what_follows(each, world, record, left_out)
    planned = (_planned(each, record, hide) for each in written if not _is_cr(each, cr))
    return [each for each in planned if each is not None]


def foreseen_of_plan(
    foreseen: Foreseen,
    world: PlanWorld,
    record: RunRecord | None,
    left_out: Sequence[LeftOut],
    hide: Callable[[Any], Any],
) -> list[PlannedObject]:
    """What no task deletes, and an extension would after such a run."""
    planned: list[PlannedObject] = []
    for each in foreseen.objects:
        place = each.place
        identity = ObjectIdentity(place.group, place.resource, place.namespace, place.name)
        found = Overlaid(identity, place.version, each.before, each.after, written_at_s=[inf])
        _doubt_what_follows(found, world, record, left_out)
        one = _planned(replace(found, written_at_s=[]), record, hide)
        planned += [replace(one, how=each.how)] if one is not None else []
    return planned


def refused_notes(world: PlanWorld, record: RunRecord | None) -> list[PlanNote]:
    """What had no honest answer, by task."""
    return [PlanNote("unknown", each.what, task_at(record, each.at_s)) for each in world.refused]


def task_at(record: RunRecord | None, at_s: float) -> TaskPlace:
    """The task that made the request that came then; nowhere, where no record was kept."""
    if record is None:
        return TaskPlace()
    request = next((each for each in record.requests if each.at_s == at_s), None)
    task = record.task_of(request) if request is not None else None
    return TaskPlace(task.name, task.place) if task is not None else TaskPlace()


def _doubt_what_follows(
    each: Overlaid, world: PlanWorld, record: RunRecord | None, left_out: Sequence[LeftOut]
) -> None:
    last_s = each.written_at_s[-1]
    if world.refused and (first := world.refused[0]).at_s < last_s:
        each.doubt(
            Certainty.UNKNOWN, f"from {task_at(record, first.at_s)} on, nothing is known for sure"
        )
    looked_at = (left for left in left_out if left.is_registered and left.at_s < last_s)
    if (left := next(looked_at, None)) is not None:
        each.doubt(Certainty.APPROXIMATE, f"it follows {left.at}, which a plan leaves out")


def _planned(
    each: Overlaid, record: RunRecord | None, hide: Callable[[Any], Any]
) -> PlannedObject | None:
    if each.now is None and each.before is None:
        return None
    if each.now is None:
        change = PlannedChange.DELETE
    elif each.before is None:
        change = PlannedChange.CREATE
    elif compared(each.before) != compared(each.now):
        change = PlannedChange.CHANGE
    else:
        return None
    places = dict.fromkeys(task_at(record, at_s) for at_s in each.written_at_s)
    return PlannedObject(
        change=change,
        gvk=each.gvk,
        namespace=each.identity.namespace,
        name=each.identity.name,
        before=each.before,
        after=each.now,
        certainty=each.certainty,
        why=each.why,
        tasks=tuple(places),
        is_name_made_up=each.is_name_made_up,
        hide=hide,
    )


def _is_cr(each: Overlaid, cr: tuple[Gvk, ObjectIdentity]) -> bool:
    """The CR itself: what a role writes there is its status, which is not part of a plan."""
    gvk, identity = cr
    is_same = (each.identity.namespace, each.identity.name) == (identity.namespace, identity.name)
    is_kind = each.identity.group == gvk.group and each.gvk.kind == gvk.kind
    return is_same and is_kind and compared(each.before) == compared(each.now)
