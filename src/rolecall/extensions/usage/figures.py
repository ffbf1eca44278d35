"""What runs cost, by namespace and kind: as many series as there are of both, none for a CR."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

from rolecall.extending import MetricsView
from rolecall.extensions.usage.model import Usage
from rolecall.metrics import MetricKind, MetricSpec
from rolecall.workqueue import Key

# Pairs of namespace and kind; later ones are added up as namespace `(others)`.
MOST_PAIRS = 2000
OTHERS = "(others)"
_Pair = tuple[str, str]
_LABELS = ("namespace", "kind")


def _counter(name: str, meaning: str) -> MetricSpec:
    return MetricSpec(name, MetricKind.COUNTER, _LABELS, meaning)


_FIELDS = {
    "runs": _counter(
        "rolecall_used_runs_total",
        "Runs that ended, by the namespace of their CR; with the next four: what the operator costs"
        " whom.",
    ),
    "seconds": _counter("rolecall_run_seconds_total", "Seconds that runs took."),
    "cpu_s": _counter(
        "rolecall_run_cpu_seconds_total",
        "CPU seconds of runs, with all processes that they waited for.",
    ),
    "requests": _counter("rolecall_run_requests_total", "Requests of runs to the API server."),
}
_OWNED_OBJECTS = MetricSpec(
    "rolecall_owned_objects",
    MetricKind.GAUGE,
    _LABELS,
    "Objects of CRs, as their last good runs saw them by name; unknown until the first one.",
)
METRICS = (*_FIELDS.values(), _OWNED_OBJECTS)


class UsageFigures:
    """Written in one thread, read in another."""

    def __init__(self) -> None:
        self._sums: dict[_Pair, Usage] = {}
        self._owned: dict[Key, int] = {}
        self._lock = threading.Lock()

    def show_in(self, metrics: MetricsView) -> None:
        for field, spec in _FIELDS.items():
            metrics.read_late(spec, partial(self._rows_of, field))
        metrics.read_late(_OWNED_OBJECTS, self._owned_rows)

    def used(self, key: Key, used: Usage) -> None:
        """Add the usage of a turn; also a turn without a run may report that a CR owns no objects."""
        with self._lock:
            if used.runs:
                pair = self._pair_of(key)
                self._sums[pair] = self._sums.get(pair, Usage()) + used
            if used.owned:
                self._owned[key] = used.owned
            elif used.owned == 0:
                self._owned.pop(key, None)

    def _rows_of(self, field: str) -> Iterator[tuple[_Pair, float]]:
        with self._lock:
            sums = dict(self._sums)
        return ((pair, getattr(used, field)) for pair, used in sums.items())

    def _owned_rows(self) -> Iterator[tuple[_Pair, float]]:
        with self._lock:
            owned, pairs = dict(self._owned), tuple(self._sums)
        objects: dict[_Pair, int] = dict.fromkeys(pairs, 0)
        for key, count in owned.items():
            pair = self._pair_of(key)
            objects[pair] = objects.get(pair, 0) + count
        return iter(objects.items())

    def _pair_of(self, key: Key) -> _Pair:
        pair = (key.namespace, key.gvk.kind)
        is_new = pair not in self._sums and len(self._sums) >= MOST_PAIRS
        return (OTHERS, key.gvk.kind) if is_new else pair
