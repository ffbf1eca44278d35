"""`skipUnchanged`: at a period or a restart, no run that could only do what the last one did."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rolecall.election import Election
from rolecall.extending import BackgroundPart, EngineView, Extension, TurnView
from rolecall.extensions.skip.current_reads import CurrentReads
from rolecall.extensions.skip.keys import SkipUnchanged
from rolecall.extensions.skip.project_digest import ProjectDigests
from rolecall.extensions.skip.skips import SkipFacts, SkipParts, Skips
from rolecall.extensions.skip.stores import ConfigMapStore, FileStore, PartStore
from rolecall.gvk import Gvk
from rolecall.metrics import MetricKind, MetricSpec
from rolecall.reconcile import EndedRun
from rolecall.record import ObjectPlace, RunRecord
from rolecall.runner import configuration_of, find_collection, inputs_of, version_of
from rolecall.workqueue import Key

RUNS_SKIPPED = MetricSpec(
    "rolecall_runs_skipped_total",
    MetricKind.COUNTER,
    ("GVK",),
    "Runs that a period or a restart did not need: with `skipUnchanged`, nothing had changed.",
)


class SkipExtension(Extension):
    name = "skip"
    watch_keys = SkipUnchanged
    metrics = (RUNS_SKIPPED,)
    needs = (RunRecord,)

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        self._skips = _skips_for(engine)
        self._skips.on_skip, self._skips.on_dependents = self._count, self._follow

    @classmethod
    def begin(cls, engine: EngineView) -> SkipExtension | None:
        is_asked_for = any(watch.extension(SkipUnchanged) for watch in engine.watches)
        return cls(engine) if is_asked_for else None

    def parts(self) -> Mapping[str, BackgroundPart]:
        return {"store": self._skips.run}

    async def why_no_run(self, turn: TurnView) -> str:
        return await self._skips.why_no_run(turn.turn, turn.watch, turn.cr, turn.period_s)

    async def run_ended(self, run: EndedRun) -> None:
        if run.is_finalizer:
            self._skips.forget(run.key)
        else:
            crs = (run.before, run.cr)
            await self._skips.ran(run.key, run.watch, crs, run.result, run.findings.of(RunRecord))

    def run_again(self, key: Key) -> None:
        self._skips.forget(key)

    def on_kinds_change(self) -> None:
        self._skips.forget_kinds()

    async def on_gone(self, key: Key) -> None:
        self._skips.forget(key)

    def has_unwritten(self, part: int) -> bool:
        return self._skips.has_unwritten(part)

    async def write_parts(self, parts: Collection[int]) -> None:
        await self._skips.write_parts(parts)

    def forget_parts(self, parts: Collection[int]) -> None:
        self._skips.forget_parts(parts)

    async def stop(self) -> None:
        await self._skips.write()

    def _count(self, gvk: Gvk) -> None:
        self.engine.metrics.of(RUNS_SKIPPED, GVK=str(gvk)).inc()

    async def _follow(self, owner: Key, place: ObjectPlace, by_annotation: bool) -> None:
        """CRs own objects there, as was known before a restart."""
        find, dependents = self.engine.client.discovery.by_plural, self.engine.dependents
        if (resource := await find(place.group, place.version, place.resource)) is not None:
            if place.name:
                named = (place.group, place.resource, place.namespace, place.name)
                dependents.note_asked(owner, *named)
            dependents.note(
                owner.gvk, resource.gvk, by_annotation=by_annotation, namespace=place.namespace
            )


def _skips_for(engine: EngineView) -> Skips:
    """What it keeps is kept where all replicas find it."""
    runner, election, facts = engine.settings.runner, engine.settings.election, facts_of(engine)
    configuration = configuration_of(facts.environment)
    store: PartStore = FileStore(runner.root)
    if election.id and election.namespace:
        store = ConfigMapStore(engine.client, election.namespace, election.id)
    return Skips(
        {watch.gvk: watch for watch in engine.watches},
        facts,
        CurrentReads(engine.client, engine.clock, engine.settings.reactor.namespaces),
        ProjectDigests(lambda play: (*inputs_of(play, runner), *configuration), engine.clock),
        store,
        engine.clock,
    )


def facts_of(engine: EngineView) -> SkipFacts:
    """Versions, settings and environment that change what runs do."""
    runner, proxy = engine.settings.runner, engine.settings.proxy
    environment = {**engine.environment, **runner.environment}
    if runner.collections_path:
        environment["ANSIBLE_COLLECTIONS_PATH"] = runner.collections_path
    core = find_collection("kubernetes.core", environment, engine.settings.watches_file.parent)
    versions = (
        engine.version,
        version_of("ansible-core"),
        version_of("kubernetes"),
        core[0] if core else "",
        runner.ansible_args,
        str(runner.inventory or ""),
        str((runner.trust_cr_text, runner.skip_facts)),
        str((proxy.inject_owner, proxy.adopts, proxy.allows_impersonation)),
    )
    return SkipFacts(versions, environment, _parts_of(engine.election))


def _parts_of(election: Election) -> SkipParts:
    division = election.division
    if division is None:
        return SkipParts()
    return SkipParts(division.count, division.part_of, are_divided=True)
