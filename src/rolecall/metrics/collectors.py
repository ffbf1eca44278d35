"""Figures that others keep, read when a scrape asks.

A scrape renders in a thread, while the loop goes on: so whatever is shared is copied in one step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client.core import GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector

from rolecall.gvk import Gvk
from rolecall.metrics import names
from rolecall.metrics.names import MetricSpec
from rolecall.workqueue import Key, QueueSnapshot


class CreationTimes(Collector):
    """When each CR was created."""

    def __init__(self) -> None:
        self._times: dict[Key, float] = {}

    def seen(self, key: Key, created_at: float) -> None:
        self._times[key] = created_at

    def gone(self, key: Key) -> None:
        self._times.pop(key, None)

    def collect(self) -> Iterator[Metric]:
        family = _gauge(names.CREATED_AT)
        for key, created_at in self._times.copy().items():
            gvk = key.gvk
            family.add_metric(
                [key.name, key.namespace, gvk.group, gvk.version, gvk.kind], created_at
            )
        yield family


class QueueFigures(Collector):
    """The queue when it was last looked at."""

    def __init__(
        self, snapshot: Callable[[], QueueSnapshot], controllers: Mapping[Gvk, str]
    ) -> None:
        self._snapshot = snapshot
        self._controllers = controllers
        self._latest = snapshot()

    def refresh(self) -> None:
        """Take a new snapshot; only on the loop, which changes the queue."""
        self._latest = self._snapshot()

    def collect(self) -> Iterator[Metric]:
        now = self._latest
        yield from self._by_kind(now)
        yield from _by_urgency(now)
        for name, value in (
            (names.QUEUE_DELAYED, now.delayed),
            (names.QUEUE_BACKING_OFF, now.backing_off),
            (names.MAX_RUNS, now.max_runs),
        ):
            family = _gauge(name)
            family.add_metric([], value)
            yield family

    def _by_kind(self, now: QueueSnapshot) -> Iterator[Metric]:
        depth, active = _gauge(names.WORKQUEUE_DEPTH), _gauge(names.ACTIVE_WORKERS)
        for gvk, controller in self._controllers.items():
            depth.add_metric([controller, controller], sum(now.depth.get(gvk, {}).values()))
            active.add_metric([controller], now.in_hand.get(gvk, 0))
        yield depth
        yield active


def _by_urgency(now: QueueSnapshot) -> Iterator[Metric]:
    depth, oldest = _gauge(names.QUEUE_DEPTH), _gauge(names.QUEUE_OLDEST)
    wait = SummaryMetricFamily(
        names.QUEUE_WAIT.name, names.QUEUE_WAIT.help, labels=names.QUEUE_WAIT.labels
    )
    for urgency, waits in now.waits.items():
        label = [urgency.name.lower()]
        depth.add_metric(label, sum(lanes.get(urgency, 0) for lanes in now.depth.values()))
        oldest.add_metric(label, now.oldest_age_s.get(urgency, 0.0))
        wait.add_metric(label, count_value=waits.count, sum_value=waits.total_s)
    yield from (depth, oldest, wait)


def _gauge(name: MetricSpec) -> GaugeMetricFamily:
    return GaugeMetricFamily(name.name, name.help, labels=name.labels)
