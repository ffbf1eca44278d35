"""One CR in a namespace of its own, and all that a case may do to it.

The hard part is to know when nothing more comes. The engine says whether a CR waits or runs; after that
objects still change, because controllers of Kubernetes follow, and each change may bring a further run.
So a tested is settled when the engine is at rest and the world is as expected; where it is not, when
nothing at all changed for `QUIET_FOR_S`. What is right is quick, and only what is wrong takes its time.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rolecall.clock import Clock
from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map
from rolecall.kube import Client, ConflictError, NotFoundError
from rolecall_dev.proving.samples import CrSample
from rolecall_dev.staging import (
    NO_LEEWAY,
    CrState,
    EndState,
    Leeway,
    Place,
    StateDifference,
    Traffic,
    TrialEngine,
    differences,
    end_state_of,
    raw_objects,
    read_end_state,
)

QUIET_FOR_S = 4.0
_LIMIT_S = 40.0
_LIMIT_OF_LIVES = 4.0
_LOOK_S = 0.1
_MOST_CONFLICTS = 9
_PREPARED_PATIENCE_S = 2.0


@dataclass(frozen=True, slots=True)
class Expected:
    """What shall become of it, and what may differ."""

    state: EndState
    leeway: Leeway = NO_LEEWAY


@dataclass(frozen=True, slots=True)
class EndOfWait:
    """How it was in the end."""

    state: EndState
    differences: tuple[StateDifference, ...]  # from what was expected
    is_at_rest: bool = True  # else it still went on when the time was up

    @property
    def is_as_expected(self) -> bool:
        return self.is_at_rest and not self.differences


class TestedCr:
    def __init__(
        self,
        client: Client,
        engine: TrialEngine,
        clock: Clock,
        sample: CrSample,
        place: Place,
        traffic: Traffic,
    ) -> None:
        self.client, self.engine, self.clock = client, engine, clock
        self.sample, self.place, self.traffic = sample, place, traffic
        self.limit_s = _LIMIT_S

    @property
    def namespace(self) -> str:
        return self.place.namespace

    def allow(self, life_s: float) -> None:
        """Wait longer where it takes its time undisturbed, too: a machine may have much to do."""
        self.limit_s = max(_LIMIT_S, _LIMIT_OF_LIVES * life_s)

    def at(self, place: Place) -> TestedCr:
        """The same with another idea of where things are."""
        moved = copy.copy(self)
        moved.place = place
        return moved

    def called(self, name: str) -> TestedCr:
        """The same namespace for a CR of another name."""
        return self.at(replace(self.place, name=name))

    async def prepare(self) -> None:
        """Make what the sample needs, and forget how it came to be: it is not what is tested."""
        made = set(self.place.known_before)
        for obj in (*self.sample.before, *self.sample.crs_before):
            there = await self.client.create(_gvk_of(obj), self._placed(obj))
            made.add(str(there["metadata"]["uid"]))
        for cr in self.sample.crs_before:
            place = Place(_gvk_of(cr), self.namespace, str(cr["metadata"]["name"]), ())
            await self.at(place).settle(patience_s=_PREPARED_PATIENCE_S)
        others = frozenset(str(cr["kind"]) for cr in self.sample.crs_before)
        self.place = replace(self.place, known_before=frozenset(made), other_crs=others)
        if self.sample.crs_before:
            self.traffic.forget()

    async def create(self, spec: Json | None = None) -> None:
        """Create the CR; with a spec, that instead of the sample's."""
        cr = self._placed(self.sample.cr)
        cr["metadata"]["name"] = self.place.name
        if spec is not None:
            cr["spec"] = spec
        await self.client.create(self.place.gvk, cr)

    async def edit(self, spec: Json) -> None:
        """Replace the CR's spec, as `kubectl edit` does, and again where it was written meanwhile."""
        for is_last in (*[False] * _MOST_CONFLICTS, True):
            cr = await self.cr()
            cr["spec"] = spec
            try:
                await self.client.replace(self.place.gvk, cr)
            except ConflictError:
                if is_last:
                    raise
            else:
                return

    async def delete(self) -> None:
        await self.client.delete(self.place.gvk, self.namespace, self.place.name)

    async def cr(self) -> Json:
        return await self.client.get(self.place.gvk, self.namespace, self.place.name)

    async def is_gone(self) -> bool:
        try:
            await self.cr()
        except NotFoundError:
            return True
        return False

    async def objects(self) -> list[Json]:
        """As they are, the CR among them."""
        return await raw_objects(self.client, self.place)

    async def state(self, leeway: Leeway = NO_LEEWAY) -> EndState:
        return await read_end_state(self.client, self.place, leeway)

    async def engine_state(self) -> CrState | None:
        return await self.engine.state_of(self.place.gvk.kind, self.namespace, self.place.name)

    async def ask_for_run(self) -> None:
        """Have it run once more, and wait until that run is shown as the last one."""
        before = await self.engine_state()
        await self.engine.reconcile(self.place.gvk.kind, self.namespace, self.place.name)
        began = self.clock.monotonic()
        while self.clock.monotonic() - began < self.limit_s:
            now = await self.engine_state()
            if now is not None and before is not None and now.last_run != before.last_run:
                return
            await self.clock.sleep(_LOOK_S)

    async def settle(
        self,
        expected: Expected | None = None,
        *,
        patience_s: float = QUIET_FOR_S,
        limit_s: float = 0.0,
    ) -> EndOfWait:
        """Wait until it is as expected, or until nothing changes any more."""
        began = changed_at = self.clock.monotonic()
        last: tuple[object, ...] = ()
        leeway = expected.leeway if expected else NO_LEEWAY
        while True:
            rests = await self._rests()
            objects = await self.objects()
            state = end_state_of(objects, self.place, leeway)
            found = tuple(differences(expected.state, state, leeway)) if expected else ()
            now = self.clock.monotonic()
            # By versions: pods that come up change nothing but the status of what made them.
            versions = [obj["metadata"]["resourceVersion"] for obj in objects]
            seen = (versions, len(self.traffic.requests), rests)
            if not rests or seen != last:
                last, changed_at = seen, now
            is_right = expected is not None and not found and self.traffic.fault is None
            if rests and is_right and await self._rests():
                return EndOfWait(state, found)
            if rests and now - changed_at > patience_s:
                return EndOfWait(state, found)
            if now - began > (limit_s or self.limit_s):
                return EndOfWait(state, found, is_at_rest=False)
            await self.clock.sleep(_LOOK_S)

    async def wait_until_gone(self, patience_s: float = 2 * QUIET_FOR_S) -> list[Json]:
        """Wait until nothing of it is left, or nothing changes any more; what is left."""
        changed_at = self.clock.monotonic()
        last: list[tuple[str, str]] = []
        while True:
            left = await self.objects()
            if not left:
                return []
            seen = [(obj["metadata"]["uid"], obj["metadata"]["resourceVersion"]) for obj in left]
            state = await self.engine_state()
            now = self.clock.monotonic()
            is_busy = state is not None and state.state in ("running", "waiting")
            if seen != last or is_busy:
                last, changed_at = seen, now
            if now - changed_at > patience_s:
                return left
            await self.clock.sleep(_LOOK_S)

    async def _rests(self) -> bool:
        state = await self.engine_state()
        return state is not None and state.is_at_rest(self.clock.now())

    def _placed(self, obj: Json) -> Json:
        """A copy, in the namespace of the case."""
        placed = copy.deepcopy(obj)
        placed["metadata"].pop("namespace", None)
        if self.namespace:
            placed["metadata"]["namespace"] = self.namespace
        return placed


def conditions_of(cr: Json) -> dict[str, Json]:
    """By type."""
    rows = as_map(cr.get("status")).get("conditions")
    return {
        str(row.get("type")): row
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict)
    }


def says_failed(cr: Json) -> bool:
    """Whether the status says that something is wrong: `Failure`, or a `Ready` that is False."""
    conditions = conditions_of(cr)
    failure, ready = conditions.get("Failure", {}), conditions.get("Ready", {})
    return failure.get("status") == "True" or ready.get("status") == "False"


def failure_message(cr: Json) -> str:
    """What it says is wrong; empty where it says nothing."""
    conditions = conditions_of(cr)
    for type_, bad in (("Failure", "True"), ("Ready", "False")):
        found = conditions.get(type_, {})
        if found.get("status") == bad and str(found.get("message") or "").strip():
            return str(found["message"])
    return ""


def _gvk_of(obj: Json) -> Gvk:
    return Gvk.parse(obj["apiVersion"], obj["kind"])


def shown_conditions(cr: Json) -> str:
    """`Ready=True (RunSucceeded), Failure=False`."""
    rows: Sequence[Json] = list(conditions_of(cr).values())
    return ", ".join(
        f"{row.get('type')}={row.get('status')}"
        + (f" ({row['reason']})" if row.get("reason") else "")
        for row in rows
    )
