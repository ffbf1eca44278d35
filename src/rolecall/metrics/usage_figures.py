"""What runs cost, by namespace and kind: as many series as there are of both, none for a CR."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from rolecall.metrics import names
from rolecall.usage import Usage
from rolecall.workqueue import Key

# Pairs of namespace and kind; those that come later are told together, as namespace `(others)`.
MOST_PAIRS = 2000
OTHERS = "(others)"
_Pair = tuple[str, str]
_COUNTERS = (
    (names.USED_RUNS, "runs"),
    (names.USED_SECONDS, "seconds"),
    (names.USED_CPU, "cpu_s"),
    (names.USED_REQUESTS, "requests"),
)


class UsageFigures(Collector):
    """Told in one thread, read in another."""

    def __init__(self) -> None:
        self._sums: dict[_Pair, Usage] = {}
        self._owned: dict[Key, int] = {}
        self._lock = threading.Lock()

    def used(self, key: Key, used: Usage) -> None:
        """What a run cost; one of which no run was made may tell that it owns nothing any more."""
        with self._lock:
            if used.runs:
                pair = self._pair_of(key)
                self._sums[pair] = self._sums.get(pair, Usage()) + used
            if used.owned:
                self._owned[key] = used.owned
            elif used.owned == 0:
                self._owned.pop(key, None)

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            sums, owned = dict(self._sums), dict(self._owned)
        for spec, field in _COUNTERS:
            counter = CounterMetricFamily(spec.name, spec.help, labels=spec.labels)
            for pair, used in sums.items():
                counter.add_metric(pair, getattr(used, field))
            yield counter
        gauge = GaugeMetricFamily(
            names.OWNED_OBJECTS.name, names.OWNED_OBJECTS.help, labels=names.OWNED_OBJECTS.labels
        )
        objects: dict[_Pair, int] = dict.fromkeys(sums, 0)
        for key, count in owned.items():
            pair = self._pair_of(key)
            objects[pair] = objects.get(pair, 0) + count
        for pair, count in objects.items():
            gauge.add_metric(pair, count)
        yield gauge

    def _pair_of(self, key: Key) -> _Pair:
        pair = (key.namespace, key.gvk.kind)
        is_new = pair not in self._sums and len(self._sums) >= MOST_PAIRS
        return (OTHERS, key.gvk.kind) if is_new else pair
