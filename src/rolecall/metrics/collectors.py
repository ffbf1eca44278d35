"""Figures that others keep, read when a scrape asks.

A scrape renders in a thread, while the loop goes on: so whatever is shared is copied in one step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from sys import intern
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from rolecall.gvk import Gvk
from rolecall.metrics import names
from rolecall.metrics.names import MetricKind, MetricSpec
from rolecall.workqueue import Key, QueueSnapshot

# Each is a series: what a status holds may be written by others, and must not fill Prometheus.
MOST_CONDITIONS = 8
FigureRow = tuple[Sequence[str], float]  # values of the labels, and the figure
_FAMILIES = {MetricKind.COUNTER: CounterMetricFamily, MetricKind.GAUGE: GaugeMetricFamily}
_VALUES = {"True": 1.0, "False": 0.0}
_WORD = re.compile(r"[A-Za-z][\w.,:/-]{0,62}\Z", re.ASCII)
# They report runs, which are counted, and one of them changes with each.
_OF_RUNS = frozenset({"Running", "Successful", "Failure"})


class CreationTimes(Collector):
    """When each CR was created."""

    def __init__(self) -> None:
        self._times: dict[Key, float] = {}

    def seen(self, key: Key, created_at: float) -> None:
        self._times[key] = created_at

    def gone(self, key: Key) -> None:
        self._times.pop(key, None)

    def __contains__(self, key: Key) -> bool:
        return key in self._times

    def collect(self) -> Iterator[Metric]:
        family = _gauge(names.CREATED_AT)
        for key, created_at in self._times.copy().items():
            gvk = key.gvk
            family.add_metric(
                [key.name, key.namespace, gvk.group, gvk.version, gvk.kind], created_at
            )
        yield family


class ConditionFigures(Collector):
    """How each CR is, as its status said last."""

    def __init__(self) -> None:
        self._rows: dict[Key, tuple[tuple[str, str, float], ...]] = {}

    def update(self, key: Key, conditions: Iterable[Any]) -> None:
        self._rows[key] = tuple(_rows_of(conditions))

    def gone(self, key: Key) -> None:
        self._rows.pop(key, None)

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        for key in [key for key in self._rows if is_meant(key)]:
            del self._rows[key]

    def collect(self) -> Iterator[Metric]:
        family = _gauge(names.CONDITION)
        for key, rows in self._rows.copy().items():
            gvk = key.gvk
            place = [key.name, key.namespace, gvk.group, gvk.version, gvk.kind]
            for name, reason, value in rows:
                family.add_metric([*place, name, reason], value)
        yield family


def _rows_of(conditions: Iterable[Any]) -> Iterator[tuple[str, str, float]]:
    """Type, reason and value: once for each type, and only what is short."""
    taken = set(_OF_RUNS)
    for each in conditions:
        name = _word(each.get("type")) if isinstance(each, dict) else ""
        if name and name not in taken and len(taken) < len(_OF_RUNS) + MOST_CONDITIONS:
            taken.add(name)
            yield name, _word(each.get("reason")), _VALUES.get(str(each.get("status")), -1.0)


def _word(value: object) -> str:
    """A short word, kept once for all CRs that have it; anything else is left out."""
    return intern(value) if isinstance(value, str) and _WORD.match(value) else ""


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
            (names.QUEUE_AGE, max(now.oldest_age_s.values(), default=0.0)),
            (names.QUEUE_DELAYED, now.delayed),
            (names.QUEUE_BACKING_OFF, now.backing_off),
            (names.MAX_RUNS, now.max_runs),
            (names.MAX_WAITING, now.max_waiting),
        ):
            family = _gauge(name)
            family.add_metric([], value)
            yield family

    def _by_kind(self, now: QueueSnapshot) -> Iterator[Metric]:
        depth, active = _gauge(names.WORKQUEUE_DEPTH), _gauge(names.ACTIVE_WORKERS)
        waiting = _gauge(names.WAITING_RUNS)
        for gvk, controller in self._controllers.items():
            depth.add_metric([controller, controller], sum(now.depth.get(gvk, {}).values()))
            active.add_metric([controller], now.in_hand.get(gvk, 0))
            waiting.add_metric([str(gvk)], now.waiting.get(gvk, 0))
        yield from (depth, active, waiting)


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


class LateFigures(Collector):
    """The rows of one metric, read from its owner at each scrape."""

    def __init__(self, name: MetricSpec, rows: Callable[[], Iterable[FigureRow]]) -> None:
        self._name, self._rows = name, rows

    def collect(self) -> Iterator[Metric]:
        kind = _FAMILIES[self._name.kind]
        family = kind(self._name.name, self._name.help, labels=self._name.labels)
        for labels, figure in self._rows():
            family.add_metric(labels, figure)
        yield family
