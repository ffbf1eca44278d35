"""What the engine counts: the `Telemetry` of a reconcile, and what others report through callbacks.

Counters and histograms are the metrics library's. What another part already knows (the queue's depth,
when each CR was created) is not counted a second time but read when a scrape asks, so that ten thousand
CRs cost one small dict entry each and nothing can drift.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from rolecall.gvk import Gvk
from rolecall.metrics import names
from rolecall.metrics.collectors import (
    ConditionFigures,
    CreationTimes,
    FigureRow,
    LateFigures,
    QueueFigures,
)
from rolecall.metrics.names import MetricKind, MetricSpec
from rolecall.watches import Watch
from rolecall.workqueue import Key, QueueSnapshot

_METHODS = {"create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}
_TYPES = {MetricKind.COUNTER: Counter, MetricKind.GAUGE: Gauge}
_WARM_STATES = ("known", "proving", "proven", "refused")


def controller_of(gvk: Gvk) -> str:
    """What the Go operator calls the part that handles a kind."""
    return f"{gvk.kind}-{gvk.version}-controller".lower()


class EngineMetrics:
    def __init__(
        self,
        version: str,
        *,
        commit: str = "",
        api_host: str = "",
        more: Iterable[MetricSpec] = (),
    ) -> None:
        """`more`: beside those that the core counts."""
        disable_created_metrics()  # type: ignore[no-untyped-call] # a series more for each, of no use
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._api_host = api_host
        self._created = CreationTimes()
        self._conditions = ConditionFigures()
        self._queue: QueueFigures | None = None
        self._lacking: Callable[[], int] = lambda: 0
        self._refreshers: list[Callable[[], None]] = []
        self._registry.register(self._created)
        self._registry.register(self._conditions)
        self._names = (*names.NAMES, *more)
        self._metrics: dict[str, Any] = {
            name.name: _made(name, self._registry) for name in self._names if not name.is_read_late
        }
        self.of(names.BUILD_INFO, commit=commit, version=version).set(1)

    @property
    def taken_names(self) -> frozenset[str]:
        """Names that a role may not take for a metric of its own."""
        return frozenset(name.name for name in self._names)

    def refresh(self) -> None:
        """Take the figures that only the loop may look at; call it before `exposition`."""
        if self._queue is not None:
            self._queue.refresh()
        self.of(names.DEPENDENTS_LACKING).set(self._lacking())
        for refresh in self._refreshers:
            refresh()

    def exposition(self) -> bytes:
        """Everything in Prometheus's text format; slow with many CRs, so call it off the loop."""
        return bytes(generate_latest(self._registry))

    def prepare(self, watches: Iterable[Watch]) -> None:
        """Let every kind's series exist from the start: a rate needs a zero before the one."""
        for watch in watches:
            controller = controller_of(watch.gvk)
            self.of(names.MAX_CONCURRENT, controller=controller).set(
                watch.max_concurrent_reconciles
            )
            for name in (names.RECONCILE_ERRORS, names.TERMINAL_ERRORS, names.PANICS):
                self.of(name, controller=controller)
            for result in ("success", "error", "requeue_after"):
                self.of(names.RECONCILE_TOTAL, controller=controller, result=result)

    def read_queue(self, snapshot: Callable[[], QueueSnapshot], kinds: Sequence[Gvk]) -> None:
        """Show the queue's own figures at each scrape."""
        controllers = {gvk: controller_of(gvk) for gvk in kinds}
        self._queue = QueueFigures(snapshot, controllers)
        self._registry.register(self._queue)

    def read_dependents(self, lacking: Callable[[], int]) -> None:
        """Show at each scrape of how many kinds of dependents not every change is seen."""
        self._lacking = lacking

    def before_scrape(self, refresh: Callable[[], None]) -> None:
        """Call this before each scrape, on the loop."""
        self._refreshers.append(refresh)

    def part_restarted(self, part: str) -> None:
        """A part of the engine met a bug and begins anew."""
        self.of(names.PART_RESTARTS, part=part).inc()

    def reconcile_finished(self, gvk: Gvk, result: str, seconds: float) -> None:
        controller = controller_of(gvk)
        self.of(names.RECONCILE_TOTAL, controller=controller, result=result).inc()
        self.of(names.RECONCILE_TIME, controller=controller).observe(seconds)
        if result == "error":
            self.of(names.RECONCILE_ERRORS, controller=controller).inc()

    def run_finished(self, gvk: Gvk, *, succeeded: bool, seconds: float, way: str) -> None:
        result = "succeeded" if succeeded else "failed"
        self.of(names.RECONCILE_RESULT, GVK=str(gvk), result=result).inc()
        self.of(names.RECONCILES, GVK=str(gvk)).observe(seconds)
        self.of(names.RUNS, GVK=str(gvk), result=result, way=way).inc()

    def phase(self, gvk: Gvk, phase: str, seconds: float) -> None:
        self.of(names.PHASE, GVK=str(gvk), phase=phase).observe(seconds)

    def tasks_ran(self, way: str, count: int) -> None:
        """A run reported how many tasks it ran, and how."""
        self.of(names.TASKS, way=way).inc(count)

    def warm_state(self, state: str) -> None:
        """Whether plays may be warm with this ansible-core is in this state from now on."""
        for each in _WARM_STATES:
            self.of(names.WARM_STATE, state=each).set(1 if each == state else 0)

    def seen(self, key: Key, created: datetime) -> None:
        self._created.seen(key, created.timestamp())

    def gone(self, key: Key) -> None:
        """A CR is gone, and its series with it."""
        self._created.gone(key)
        self._conditions.gone(key)

    def conditions(self, key: Key, conditions: Iterable[Any]) -> None:
        """What a CR's status says; not of one that is gone, since its series would stay."""
        if key in self._created:
            self._conditions.update(key, conditions)

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        """Drop the conditions of these CRs, which another replica reports now."""
        self._conditions.forget_of(is_meant)

    def api_call(self, verb: str, resource: str, code: int, seconds: float) -> None:
        """The engine itself asked the API server something."""
        method = _METHODS.get(verb, "GET")
        labels = {"code": str(code or "<error>"), "host": self._api_host, "method": method}
        self.of(names.REST_REQUESTS, **labels).inc()
        self.of(names.API_CALL, resource=resource, verb=verb).observe(seconds)

    def loop_held(self, seconds: float) -> None:
        self.of(names.LOOP_HELD).observe(seconds)

    def read_late(self, name: MetricSpec, rows: Callable[[], Iterable[FigureRow]]) -> None:
        """Ask for these figures at each scrape, in a thread."""
        self._registry.register(LateFigures(name, rows))

    def of(self, name: MetricSpec, /, **labels: str) -> Any:
        """A counter, gauge or histogram of the library."""
        metric = self._metrics[name.name]
        return metric.labels(**labels) if name.labels else metric


def _made(name: MetricSpec, registry: CollectorRegistry) -> Any:
    if name.kind is MetricKind.HISTOGRAM:
        return Histogram(name.name, name.help, name.labels, buckets=name.buckets, registry=registry)
    return _TYPES[name.kind](name.name, name.help, name.labels, registry=registry)
