"""What becomes of a CR when nothing disturbs: what every case is compared with.

It is done twice, in two namespaces: what the two do not agree on (addresses, generated passwords) is no
fault of a later case either. From the same two runs comes the list of requests that may fail, and which
task makes each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from rolecall.gvk import Gvk
from rolecall.history import kept_crs, roots_of
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.record import RunRecord, read_record
from rolecall_dev.proving.tested_cr import Expected, TestedCr, says_failed
from rolecall_dev.staging import (
    NO_LEEWAY,
    EndState,
    Leeway,
    Place,
    RequestMark,
    SeenRequest,
    end_state_of,
    leeway_between,
)

_SETTLES_WITHIN_S = 60.0
# Until it is known which kinds its plays write; then until nothing comes any more.
_FIRST_PATIENCE_S, _PATIENCE_S = 0.3, 3.0
# Events are posted once and not taken back: they outlive their object, for an hour.
_EVENTS = frozenset({"Event", "Event.events.k8s.io"})


@dataclass(frozen=True, slots=True)
class RequestPlace:
    """A request as the engine's record knows it."""

    verb: str
    resource_name: str


@dataclass(frozen=True, slots=True)
class Undisturbed:
    end: EndState
    leeway: Leeway
    at_first_success: EndState  # when the engine first said that all is well
    requests: tuple[SeenRequest, ...]  # of the plays of one of the two
    kinds: tuple[Gvk, ...]  # of what plays wrote, in namespaces and without
    wide_kinds: tuple[Gvk, ...]
    is_confined: (
        bool  # plays write nothing outside of the CR's namespace, and do not look for it there
    )
    settles: bool
    fails: bool  # the status says so, undisturbed as it is
    cr: Json  # at the end
    objects: tuple[Json, ...]  # at the end, the CR among them
    places: dict[RequestPlace, str]
    by_engine: tuple[SeenRequest, ...] = ()  # the engine's own, in the CR's namespace
    life_s: float = 0.0  # how long the slower one took
    # By `Ingress.networking.k8s.io`: `ingresses`, as the API server names it in paths.
    plurals: dict[str, str] = field(default_factory=dict)

    @property
    def expected(self) -> Expected:
        return Expected(self.end, self.leeway)

    @property
    def effects(self) -> list[SeenRequest]:
        """Writes that changed something."""
        return [each for each in self.requests if each.is_write and each.has_effect]

    def place_of(self, request: SeenRequest | RequestMark | None) -> str:
        """The task that makes such a request; empty where that is not known."""
        if isinstance(request, RequestMark):
            request = next((each for each in self.requests if each.mark == request), None)
        if request is None:
            return ""
        named = self.places.get(RequestPlace(request.info.verb, request.resource_name), "")
        resource = request.resource_name.partition("/")[0]
        # A create has no name before it is answered.
        return named or next(
            (
                place
                for known, place in self.places.items()
                if known.verb == request.info.verb
                and known.resource_name.partition("/")[0] == resource
            ),
            "",
        )


@dataclass(frozen=True, slots=True)
class Life:
    """One CR that nothing disturbed, from its creation until nothing changed any more."""

    place: Place
    objects: list[Json]
    at_first_success: list[Json]
    cr: Json
    requests: tuple[SeenRequest, ...]
    is_confined: bool
    settles: bool
    places: dict[RequestPlace, str]
    by_engine: tuple[SeenRequest, ...]
    plurals: dict[str, str]
    stays_inside: bool  # by the records of its runs, no request left its namespace
    seconds: float


async def live(tested: TestedCr) -> Life:
    """Create the CR and wait; meanwhile it becomes known which kinds its plays write."""
    first: list[Json] = []

    async def note_first() -> None:
        if not first:
            first.extend(await (await _knowing_kinds(tested)).objects())

    tested.traffic.on_success = note_first
    began, began_s = tested.clock.now(), tested.clock.monotonic()
    await tested.create()
    await tested.settle(patience_s=_FIRST_PATIENCE_S, limit_s=_SETTLES_WITHIN_S)
    # Where a machine is busy, the controllers of its cluster take their time as well:
    # with three seconds, pods were not there yet, and a later case that had them was a finding.
    patience_s = max(_PATIENCE_S, tested.clock.monotonic() - began_s)
    tested.place = (await _knowing_kinds(tested)).place
    older = [obj for obj in await tested.objects() if _is_older(obj, tested.place, began)]
    known_before = tested.place.known_before | {str(obj["metadata"]["uid"]) for obj in older}
    tested.place = replace(tested.place, known_before=known_before)
    settled = await tested.settle(patience_s=patience_s, limit_s=_SETTLES_WITHIN_S)
    while (known := (await _knowing_kinds(tested)).place) != tested.place:
        # A later run has written a further kind, which was not looked at so far.
        tested.place = known
        settled = await tested.settle(patience_s=patience_s, limit_s=_SETTLES_WITHIN_S)
    records = await asyncio.to_thread(_records, tested)
    return Life(
        place=tested.place,
        objects=await tested.objects(),
        at_first_success=[obj for obj in first if obj["metadata"]["uid"] not in known_before],
        cr=await tested.cr(),
        requests=tuple(tested.traffic.of_plays),
        is_confined=bool(tested.namespace)
        and not any(_is_outside(each, tested) for each in tested.traffic.of_plays)
        and not await looks_everywhere(tested.client, tested.traffic.of_plays, tested.namespace),
        settles=settled.is_at_rest,
        places=_places(records),
        by_engine=tuple(
            each
            for each in tested.traffic.requests
            if not each.is_play and tested.namespace and each.info.namespace == tested.namespace
        ),
        plurals=await _plurals(tested),
        stays_inside=_stay_inside(records, tested.namespace),
        seconds=tested.clock.monotonic() - began_s,
    )


def compared(lives: Sequence[Life]) -> Undisturbed:
    """What two lives agree on."""
    leeway = NO_LEEWAY
    # Twice: names that end at random must be known before their objects can be compared.
    for _ in range(2):
        states = [end_state_of(life.objects, life.place, leeway) for life in lives]
        leeway = leeway_between(states[0], states[-1], Leeway(prefixes=leeway.prefixes))
    one = lives[0]
    return Undisturbed(
        end=end_state_of(one.objects, one.place, leeway),
        leeway=leeway,
        at_first_success=end_state_of(one.at_first_success, one.place, leeway),
        requests=one.requests,
        kinds=one.place.kinds,
        wide_kinds=one.place.wide_kinds,
        is_confined=one.is_confined,
        settles=all(life.settles for life in lives),
        fails=says_failed(one.cr),
        cr=one.cr,
        objects=tuple(one.objects),
        places=one.places,
        by_engine=one.by_engine,
        plurals=one.plurals,
        life_s=max(life.seconds for life in lives),
    )


async def _knowing_kinds(tested: TestedCr) -> TestedCr:
    """The same tested, with the kinds that its plays have written so far."""
    written = [each for each in tested.traffic.of_plays if each.is_write]
    own = tested.place.gvk
    kinds, wide = await kinds_of(tested.client, written, own)
    return tested.at(replace(tested.place, kinds=kinds, wide_kinds=wide))


async def kinds_of(
    client: Client, written: Sequence[SeenRequest], own: Gvk
) -> tuple[tuple[Gvk, ...], tuple[Gvk, ...]]:
    """What else than CRs was written, in namespaces and without."""
    kinds: set[Gvk] = set()
    wide: set[Gvk] = set()
    for info in {each.info for each in written}:
        resource = await client.discovery.by_plural(info.group, info.version, info.resource)
        if resource is None or not resource.is_watchable or resource.gvk == own:
            continue
        if resource.gvk.group_kind in _EVENTS:
            continue
        (kinds if resource.namespaced else wide).add(resource.gvk)
    return tuple(sorted(kinds)), tuple(sorted(wide))


async def _plurals(tested: TestedCr) -> dict[str, str]:
    infos = [each.info for each in tested.traffic.of_plays if each.info.is_resource]
    asked = {(info.group, info.version, info.resource) for info in infos}
    found = {}
    for group, version, plural in sorted(asked):
        resource = await tested.client.discovery.by_plural(group, version, plural)
        if resource is not None:
            found[resource.gvk.group_kind] = plural
    return found


def _is_outside(request: SeenRequest, tested: TestedCr) -> bool:
    """Whether it writes outside of the CR's namespace; reviews write nothing that stays."""
    return (
        request.is_write
        and request.info.namespace != tested.namespace
        and not request.info.resource.endswith("reviews")
    )


async def looks_everywhere(client: Client, requests: Sequence[SeenRequest], namespace: str) -> bool:
    """Whether plays list objects of all namespaces: then other cases may decide what they do."""
    for info in {each.info for each in requests}:
        if info.verb == "list" and info.namespace != namespace:
            kind = await client.discovery.by_plural(info.group, info.version, info.resource)
            if kind is not None and kind.namespaced:
                return True
    return False


def _is_older(obj: Json, place: Place, moment: datetime) -> bool:
    """Whether an object without a namespace was there before."""
    is_wide = Gvk.parse(obj["apiVersion"], obj["kind"]) in place.wide_kinds
    made = datetime.fromisoformat(obj["metadata"]["creationTimestamp"])
    return is_wide and made < moment.replace(microsecond=0)


def _records(tested: TestedCr) -> list[RunRecord | None]:
    """Those that the engine keeps of the runs; None for a run without one."""
    return [
        read_record(run.folder)
        for root in roots_of(tested.engine.artifacts)
        for kept in kept_crs(root, tested.place.gvk.kind, tested.place.name, tested.namespace)
        for run in kept.runs()
    ]


def _places(records: Sequence[RunRecord | None]) -> dict[RequestPlace, str]:
    found: dict[RequestPlace, str] = {}
    for record in records:
        for request in record.requests if record else ():
            task = record.task_of(request) if record else None
            if task is not None:
                place = RequestPlace(request.verb, request.resource_name)
                found.setdefault(place, task.place)
    return found


def _stay_inside(records: Sequence[RunRecord | None], namespace: str) -> bool:
    """Whether it is known of each run that it asked for nothing outside of the CR's namespace."""
    return bool(records and namespace) and all(
        record is not None
        and record.is_complete
        and all(request.namespace == namespace for request in record.requests if request.resource)
        for record in records
    )
