"""Decides at a period or a restart whether a run is needed, and keeps the data for that. It skips:

    a turn for a period or for the start-up list, if the watch has `skipUnchanged`
    whose last run is kept: successful, pure, complete, and without changes
    not longer ago than `maxSkip`
    with the same inputs: CR, watch, project, versions, kinds, environment variables
    and with unchanged objects that it read

Promise: in doubt, the run is made. The kept data is written in parts, in batches, and only after runs:
a skip writes nothing, neither here nor into status. If replicas divide the CRs, the parts follow the
shards, so that each part has one writer: the replica that may act for the CRs in it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from rolecall.acting import RightToAct, acting_for, current_hand
from rolecall.clock import Clock
from rolecall.errors import RolecallError
from rolecall.extensions.skip.current_reads import CurrentReads
from rolecall.extensions.skip.input_digest import (
    digest_of,
    digest_of_cr,
    digest_of_variables,
    digest_of_watch,
)
from rolecall.extensions.skip.keys import SkipUnchanged
from rolecall.extensions.skip.project_digest import ProjectDigests
from rolecall.extensions.skip.settled import (
    Settled,
    digest_of_reads,
    has_changed,
    reads_of,
    why_not_settled,
)
from rolecall.extensions.skip.stores import PartStore
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.log_fields import log_fields
from rolecall.record import ObjectPlace, RunRecord
from rolecall.runner import RunResult
from rolecall.watches import Watch
from rolecall.workqueue import PERIOD, START, Key, Turn

_PARTS = 16
WHY = "nothing that its last run depended on changed"
_WRITE_EVERY_S = 10.0
_LOG_SKIPS_EVERY_S = 60.0
_PERIODS = 10.0
_LONGEST_S = 86400.0
_MOST_REASONS = 20

_Around = tuple[str, str]  # digests of the project's files and of the kinds that there are

_logger = logging.getLogger(__name__)


# Called with the owner, a place of objects that it owns, and whether annotations tie them to it.
OnDependents = Callable[[Key, ObjectPlace, bool], Awaitable[None]]


async def _ignore_dependents(_owner: Key, _place: ObjectPlace, _by_annotation: bool) -> None:
    """The default: ignore the objects that CRs own."""


def _part_of(key: Key) -> int:
    text = "\0".join(_texts(key)).encode()
    return hashlib.sha256(text).digest()[0] % _PARTS


@dataclass(frozen=True, slots=True)
class SkipParts:
    """How what is kept is divided: each part is read and written as a whole."""

    count: int = _PARTS
    of: Callable[[Key], int] = _part_of
    are_divided: bool = False  # other engines have the other parts


@dataclass(frozen=True, slots=True)
class SkipFacts:
    """What is the same for all runs of an engine."""

    versions: tuple[str, ...]  # the engine's, ansible-core's, those of collections, settings
    environment: Mapping[str, str]  # as plays get it
    parts: SkipParts = field(default_factory=SkipParts)


class Skips:
    def __init__(
        self,
        watches: Mapping[Gvk, Watch],
        facts: SkipFacts,
        reads: CurrentReads,
        projects: ProjectDigests,
        store: PartStore,
        clock: Clock,
    ) -> None:
        self._watches = {
            gvk: watch for gvk, watch in watches.items() if watch.extension(SkipUnchanged)
        }
        self._entries = {gvk: digest_of_watch(watch) for gvk, watch in self._watches.items()}
        self._facts, self._reads, self._projects = facts, reads, projects
        self._store, self._clock = store, clock
        self._kept: dict[Key, bytes] = {}
        self._begun: dict[Key, _Around] = {}  # of runs in flight
        self._parts = facts.parts
        # Parts to be written, with the right by which their CRs' last turns acted.
        self._dirty: dict[int, RightToAct | None] = {}
        self._writing: set[int] = set()
        self._loading = asyncio.Lock()
        self._loaded: set[int] = set()
        self._logged_reasons: dict[Gvk, set[str]] = {}
        self._skipped: Counter[Gvk] = Counter()
        self._skips_logged_at = clock.monotonic()
        # Called for each skipped run.
        self.on_skip: Callable[[Gvk], None] = lambda _: None
        # Called for the objects that CRs own: after a restart, no skipped run reports them.
        self.on_dependents: OnDependents = _ignore_dependents

    def forget_kinds(self) -> None:
        """A kind came, changed or went."""
        self._reads.forget_kinds()

    @property
    def is_on(self) -> bool:
        """Whether any watch wants it."""
        return bool(self._watches)

    async def why_no_run(self, turn: Turn, watch: Watch, cr: Json, period_s: float) -> str:
        """Why this turn needs no run; empty: make it."""
        if watch.gvk not in self._watches:
            return ""
        await self._load(turn.key)
        try:
            why = await self._why_needed(turn, watch, cr, period_s)
            if not why:
                self._skipped[watch.gvk] += 1
                self.on_skip(watch.gvk)
                return WHY
            _logger.debug("a run is needed", extra=log_fields(key=str(turn.key), why=why))
            self._begun[turn.key] = await self._around(watch, self._clock.monotonic())
        except (RolecallError, OSError, TimeoutError) as error:
            _logger.debug("what a run read cannot be asked for", extra=log_fields(error=str(error)))
        return ""

    async def ran(
        self,
        key: Key,
        watch: Watch,
        crs: tuple[Json, Json],
        result: RunResult,
        record: RunRecord | None,
    ) -> None:
        """A run ended; `crs`: the CR as it was before the turn, and as the play saw it."""
        if watch.gvk not in self._watches:
            return
        around = self._begun.pop(key, None)
        if why := why_not_settled(result, record):
            self.forget(key)
            # The changes of the run itself may be the reason; then the next run shows it.
            if result.impure or record is None or not has_changed(result, record):
                self._log_why_run(watch, why)
            return
        assert record is not None
        before, seen = crs
        reads = reads_of(record, seen)
        if reads is None or has_changed(result, record) or not await self._is_still(watch, around):
            self.forget(key)
            _logger.debug("the run says nothing of the next", extra=log_fields(key=str(key)))
            return
        assert around is not None
        variables, places = tuple(sorted(result.variables)), tuple(reads.states)
        inputs = self._inputs(watch, (before, seen), variables, around)
        settled = Settled(inputs, reads.digest, self._now(), places, reads.owned, variables)
        self._kept[key] = settled.text()
        self._mark(key)

    def forget(self, key: Key) -> None:
        """The CR is gone, or its last run says nothing of the next."""
        self._begun.pop(key, None)
        if self._kept.pop(key, None) is not None:
            self._mark(key)

    def forget_parts(self, parts: Collection[int]) -> None:
        """Another engine had these parts, or has them now: they are read again when they are ours."""
        self._loaded -= set(parts)
        for part in parts:
            self._dirty.pop(part, None)
        for key in [key for key in self._kept if self._parts.of(key) in parts]:
            del self._kept[key]

    async def run(self) -> None:
        """Write what is kept, now and then, until cancelled."""
        while True:
            await self._clock.sleep(_WRITE_EVERY_S)
            await self.write()
            self._reads.drop_shared()
            self._log_skipped()

    async def write(self) -> None:
        """Write the parts that changed."""
        await self.write_parts(list(self._dirty))

    async def write_parts(self, parts: Collection[int]) -> None:
        """Write those of these parts that changed, each by the right of who changed it."""
        for part in sorted(self._dirty.keys() & parts):
            if part not in self._dirty:  # lost, or written concurrently
                continue
            hand = self._dirty.pop(part)
            self._writing.add(part)
            try:
                with acting_for(hand):
                    await self._write(part)
            finally:
                self._writing.discard(part)

    def has_unwritten(self, part: int) -> bool:
        """Whether what is kept of a part is not written yet."""
        return part in self._dirty or part in self._writing

    async def _write(self, part: int) -> None:
        rows = [
            [*_texts(key), json.loads(text)]
            for key, text in self._kept.items()
            if self._parts.of(key) == part
        ]
        await self._store.write(part, json.dumps(rows, separators=(",", ":")).encode())

    def _mark(self, key: Key) -> None:
        """What is kept of a key changed, in a turn of it."""
        self._dirty[self._parts.of(key)] = current_hand()

    async def _load(self, key: Key) -> None:
        """Read the part of a key, or all where no other engine has any."""
        parts = self._parts
        wanted = {parts.of(key)} if parts.are_divided else set(range(parts.count))
        if wanted <= self._loaded:
            return
        async with self._loading:
            if not (missing := wanted - self._loaded):
                return
            for part in sorted(missing):
                self._take(part, await self._store.read(part))
            self._loaded |= missing
            await self._follow_dependents(missing)
            level = logging.DEBUG if parts.are_divided else logging.INFO
            fields = log_fields(crs=len(self._kept))
            _logger.log(level, "runs that may not be needed", extra=fields)

    def _take(self, part: int, text: bytes) -> None:
        try:
            for group, version, kind, namespace, name, values in json.loads(text or b"[]"):
                gvk = Gvk(group, version, kind)
                key = Key(gvk, str(namespace), str(name))
                # Others are of a time when there was another number of parts.
                if gvk in self._watches and self._parts.of(key) == part:
                    kept = Settled.of_text(json.dumps(values).encode()).text()
                    self._kept.setdefault(key, kept)
        except (ValueError, TypeError):
            _logger.warning("what was kept of runs is garbled; the runs that it spoke of are made")

    async def _follow_dependents(self, parts: Collection[int]) -> None:
        # A kind once; of what is owned from elsewhere each object, since only those are believed.
        found: dict[object, tuple[Key, ObjectPlace]] = {}
        for key, text in self._kept.items():
            if self._parts.of(key) not in parts:
                continue
            for place in Settled.of_text(text).owned:
                kind = replace(place, name="")
                if _is_from_elsewhere(key, place):
                    found[key, place] = key, place
                else:
                    found.setdefault((key.gvk, kind), (key, kind))
        for key, place in found.values():
            await self.on_dependents(key, place, _is_by_annotation(key, place))

    def _settled(self, key: Key) -> Settled | None:
        text = self._kept.get(key)
        return Settled.of_text(text) if text is not None else None

    async def _why_needed(self, turn: Turn, watch: Watch, cr: Json, period_s: float) -> str:
        """Why the run is to be made; empty: it could only do what the last one did."""
        if turn.cause not in (PERIOD, START):
            return f"the cause is {turn.cause}"
        settled = self._settled(turn.key)
        if settled is None:
            return "the last run is not known to have left nothing to do"
        passed_s = self._now() - settled.ran_at
        if passed_s < 0:
            return "the last run is said to be in the future: a clock was set"
        if passed_s >= _longest_s(watch, period_s):
            return "the last run was too long ago"
        due_s = self._clock.monotonic() - turn.waited_s
        around = await self._around(watch, due_s)
        if settled.inputs != self._inputs(watch, (cr, cr), settled.variables, around):
            return "the object, the project or the environment changed"
        states = await self._reads.states(settled.places, due_s)
        return "" if digest_of_reads(states) == settled.reads else "what the last run read changed"

    async def _is_still(self, watch: Watch, around: _Around | None) -> bool:
        """Whether files and kinds are those that the run began with: it may have seen either."""
        try:
            return around is not None and around == await self._around(
                watch, self._clock.monotonic()
            )
        except (RolecallError, OSError, TimeoutError):
            return False

    async def _around(self, watch: Watch, since_s: float) -> _Around:
        """The project's files, and the kinds that there are."""
        project = self._projects.known(watch.play, since_s)
        if project is None:
            project = await asyncio.to_thread(self._projects.look, watch.play)
        if not project:
            raise RolecallError("the project's files could not be looked at")
        return project, await self._reads.kinds()

    def _inputs(
        self, watch: Watch, crs: tuple[Json, Json], variables: tuple[str, ...], around: _Around
    ) -> str:
        """A digest of all that a run is given."""
        before, seen = crs
        return digest_of(
            digest_of_cr(seen, before),
            self._entries[watch.gvk],
            around,
            self._facts.versions,
            digest_of_variables(variables, self._facts.environment),
        )

    def _now(self) -> int:
        return int(self._clock.now().timestamp())

    def _log_why_run(self, watch: Watch, why: str) -> None:
        """Say once for each reason why runs of a watch are made."""
        logged = self._logged_reasons.setdefault(watch.gvk, set())
        if why not in logged and len(logged) < _MOST_REASONS:
            logged.add(why)
            _logger.info(
                "skipUnchanged: this kind's runs are made",
                extra=log_fields(kind=watch.gvk.kind, why=why),
            )

    def _log_skipped(self) -> None:
        if self._skipped and self._clock.monotonic() - self._skips_logged_at >= _LOG_SKIPS_EVERY_S:
            self._skips_logged_at = self._clock.monotonic()
            for gvk, count in self._skipped.items():
                fields = log_fields(kind=gvk.kind, count=count)
                _logger.info("runs were skipped, since nothing changed", extra=fields)
            self._skipped.clear()


def _longest_s(watch: Watch, period_s: float) -> float:
    asked = watch.extension(SkipUnchanged)
    if asked is not None and asked.max_skip_s is not None:
        return asked.max_skip_s
    return min(_LONGEST_S, _PERIODS * period_s) if period_s > 0 else _LONGEST_S


def _is_by_annotation(key: Key, place: ObjectPlace) -> bool:
    """As Kubernetes allows: an owner reference stays in its namespace."""
    return bool(key.namespace) and key.namespace != place.namespace


def _is_from_elsewhere(key: Key, place: ObjectPlace) -> bool:
    return not key.namespace or key.namespace != place.namespace


def _texts(key: Key) -> tuple[str, ...]:
    return key.gvk.group, key.gvk.version, key.gvk.kind, key.namespace, key.name
