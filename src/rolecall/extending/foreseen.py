"""What extensions would do after a run that is only planned."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.reconcile import EndedRun
from rolecall.record import ObjectPlace
from rolecall.settings import Settings


@dataclass(frozen=True, slots=True)
class ForeseenObject:
    """One that would be deleted, or (`after`) given up."""

    place: ObjectPlace
    before: Json
    after: Json | None  # None: it is deleted
    how: str  # for people: `pruned`


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What follows from one run."""

    objects: tuple[ForeseenObject, ...] = ()
    unknown: str = ""  # why it is not known


Foresee = Callable[[EndedRun], Awaitable[Foreseen]]


@dataclass(frozen=True, slots=True)
class CommandView:
    """What a command that plans gives extensions; it may run far from the operator."""

    client: Client
    settings: Settings
    environment: Mapping[str, str]


async def foresee_nothing(run: EndedRun) -> Foreseen:  # noqa: ARG001 - a `Foresee`
    return Foreseen()


async def foreseen_by(each_foresees: Iterable[Foresee], run: EndedRun) -> Foreseen:
    """What they foresee together."""
    found = [await foresee(run) for foresee in each_foresees]
    return Foreseen(
        tuple(one for each in found for one in each.objects),
        "; ".join(each.unknown for each in found if each.unknown),
    )
