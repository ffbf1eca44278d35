"""Metrics that roles set with `osdk_metric`: one JSON request changes one metric.

Promises the Go operator's wire format: its fields, its rules of which operation wins, its texts, HTTP
200 with an empty body. Names appear in the exposition exactly as given; that is why this does not stand
on the metrics library, which adds `_total` to each counter. Mended: `set: 0` sets zero, and a histogram
or summary without a value observes nothing.

A name that is not valid or that the engine uses is logged and then ignored with 200, as there: a play
must not fail for its metrics.
"""

from __future__ import annotations

import logging
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rolecall.log_fields import log_fields
from rolecall.metrics.names import DURATION_BUCKETS

_logger = logging.getLogger(__name__)
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*\Z")
_KINDS = ("counter", "gauge", "histogram", "summary")
_OBSERVING = {"histogram", "summary"}


class RoleMetricError(ValueError):
    """A request that breaks a rule; the text goes back to the role."""


@dataclass(slots=True)
class _Metric:
    """One metric of a role. Counters and gauges use `value`, the others the rest."""

    kind: str
    help: str
    is_shown: bool
    value: float = 0.0
    count: int = 0
    buckets: list[int] = field(default_factory=lambda: [0] * len(DURATION_BUCKETS))


class RoleMetrics:
    def __init__(self, now: Callable[[], float], taken_names: Collection[str] = ()) -> None:
        self._now = now
        self._taken_names = taken_names
        self._metrics: dict[str, _Metric] = {}

    def apply(self, request: Any) -> None:
        """Carry out one request, or raise `RoleMetricError`."""
        if not isinstance(request, dict):
            raise RoleMetricError("a request should be a JSON object")
        given = [kind for kind in _KINDS if request.get(kind) is not None]
        if not given:
            raise RoleMetricError("a request should contain at least one metric")
        if len(given) > 1:
            raise RoleMetricError("only one metric can be processed at a time")
        name, kind = request.get("name", ""), given[0]
        operation = request[kind]
        if not isinstance(name, str) or not isinstance(operation, dict):
            raise RoleMetricError(f"`name` should be text and `{kind}` an object")
        metric = self._metrics.get(name) or self._add(name, kind, str(request.get("description")))
        if metric.kind != kind and not {metric.kind, kind} <= _OBSERVING:
            raise RoleMetricError(f"cannot change metric type of {name}, which is a {metric.kind}")
        self._change(metric, operation)

    def exposition(self) -> bytes:
        lines = [
            line
            for name, metric in list(self._metrics.items())
            if metric.is_shown
            for line in _lines(name, metric)
        ]
        return "".join(f"{line}\n" for line in lines).encode()

    def _add(self, name: str, kind: str, text: str) -> _Metric:
        is_shown = bool(_NAME.match(name)) and name not in self._taken_names
        if not is_shown:
            _logger.warning("metric of a role was left out", extra=log_fields(metric=name))
        self._metrics[name] = _Metric(kind, text, is_shown)
        return self._metrics[name]

    def _change(self, metric: _Metric, operation: Mapping[str, Any]) -> None:
        match metric.kind:
            case "counter":
                _count(metric, operation)
            case "gauge":
                _gauge(metric, operation, self._now)
            case _:
                _observe(metric, operation)


def _count(metric: _Metric, operation: Mapping[str, Any]) -> None:
    step = 1.0 if operation.get("increment") is True else _number(operation, "add") or 0.0
    if step < 0:
        raise RoleMetricError("counter metrics cannot decrease in value")
    metric.value += step


def _gauge(metric: _Metric, operation: Mapping[str, Any], now: Callable[[], float]) -> None:
    """Carry out the first operation that says something; `set: 0` only where nothing else does."""
    if operation.get("increment") is True:
        metric.value += 1
    elif operation.get("decrement") is True:
        metric.value -= 1
    elif step := _number(operation, "add"):
        metric.value += step
    elif step := _number(operation, "subtract"):
        metric.value -= step
    elif value := _number(operation, "set"):
        metric.value = value
    elif operation.get("set_to_current_time") is True:
        metric.value = now()
    elif _number(operation, "set") is not None:
        metric.value = 0.0


def _observe(metric: _Metric, operation: Mapping[str, Any]) -> None:
    value = _number(operation, "observe")
    if value is None:
        return
    metric.value += value
    metric.count += 1
    place = bisect_left(DURATION_BUCKETS, value)
    if place < len(metric.buckets):
        metric.buckets[place] += 1


def _number(operation: Mapping[str, Any], key: str) -> float | None:
    value = operation.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RoleMetricError(f"`{key}` should be a number")
    return float(value)


def _lines(name: str, metric: _Metric) -> Iterator[str]:
    text = metric.help.replace("\\", "\\\\").replace("\n", "\\n")
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {metric.kind}"
    if metric.kind not in _OBSERVING:
        yield f"{name} {_spelled(metric.value)}"
        return
    if metric.kind == "histogram":
        below = 0
        for bound, count in zip(DURATION_BUCKETS, metric.buckets, strict=True):
            below += count
            yield f'{name}_bucket{{le="{bound:g}"}} {below}'
        yield f'{name}_bucket{{le="+Inf"}} {metric.count}'
    yield f"{name}_sum {_spelled(metric.value)}"
    yield f"{name}_count {metric.count}"


def _spelled(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return "NaN" if math.isnan(value) else repr(value)
