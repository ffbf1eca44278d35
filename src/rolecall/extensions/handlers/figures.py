"""What calls of handlers came to: metrics, log lines, and the last ones of each CR."""

from __future__ import annotations

import logging
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from rolecall.clock import Clock
from rolecall.extending import Act, LoggedLine, MetricsView
from rolecall.handler_files import REVIEWING
from rolecall.json_object import Json
from rolecall.log_fields import log_fields
from rolecall.metrics import MetricKind, MetricSpec
from rolecall.workqueue import Key

_LABELS = ("GVK", "handler")
CALLS = MetricSpec(
    "rolecall_handler_calls_total",
    MetricKind.COUNTER,
    (*_LABELS, "result"),
    "Calls of kopf handlers that ended, by `succeeded`, `retry`, `failed`, `cancelled` or `denied`.",
)
SECONDS = MetricSpec(
    "rolecall_handler_seconds",
    MetricKind.HISTOGRAM,
    _LABELS,
    "Seconds that calls of kopf handlers took.",
    (0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0),
)
MEMORY = MetricSpec(
    "rolecall_handlers_memory_bytes",
    MetricKind.GAUGE,
    (),
    "Memory of the process of kopf handlers; 0 where none runs here.",
)
STARTS = MetricSpec(
    "rolecall_handlers_starts_total",
    MetricKind.COUNTER,
    (),
    "How often the process of kopf handlers was started.",
)
HANDLER_METRICS = (CALLS, SECONDS, MEMORY, STARTS)
# CRs whose calls are remembered, and series: the ids are those of the project's functions.
_MOST_CRS = 10_000
_MOST_LINES, _LONGEST_LINE = 2_000, 500  # of all handlers together
_logger = logging.getLogger(__name__)


class HandlerFigures:
    def __init__(
        self, metrics: MetricsView, clock: Clock, on_act: Callable[[Key, Act], None]
    ) -> None:
        self._metrics, self._clock, self._on_act = metrics, clock, on_act
        self._last: OrderedDict[Key, Sequence[Act]] = OrderedDict()
        self._lines: deque[tuple[Key, str, LoggedLine]] = deque(maxlen=_MOST_LINES)
        self._numbers = count(1)

    def started(self) -> None:
        self._metrics.of(STARTS).inc()

    def memory(self, size: int) -> None:
        self._metrics.of(MEMORY).set(size)

    def process_ended(self) -> None:
        """Handlers that did not end are not running any more."""
        self.memory(0)
        for key, acts in self._last.items():
            if any(act.outcome == "running" for act in acts):
                self._last[key] = [act for act in acts if act.outcome != "running"]

    def logged(self, key: Key, handler: str, text: str) -> None:
        line = LoggedLine(next(self._numbers), self._clock.now(), text[:_LONGEST_LINE])
        self._lines.append((key, handler, line))

    def began(self, key: Key, call: Json) -> None:
        """A daemon, which may run for as long as its CR is there."""
        name = call["handler"]
        before = self._last_call(key, name)
        why, failures = (before.why, before.failures) if before else ("", 0)
        now = self._clock.now()
        self._remember(key, Act(name, call["place"], "running", why, 0.0, now, failures))

    def called(self, key: Key, call: Json) -> None:
        """A call ended; a failure is logged once, until it is another one."""
        handler, outcome = call["handler"], call["outcome"]
        labels = {"GVK": str(key.gvk), "handler": handler}
        self._metrics.of(CALLS, **labels, result=outcome).inc()
        self._metrics.of(SECONDS, **labels).observe(call["seconds"])
        act = Act(
            handler,
            call["place"],
            outcome,
            call["why"],
            call["seconds"],
            self._clock.now(),
        )
        self._on_act(key, act)
        if call["decorator"] in REVIEWING:
            self._log_review(key, call)  # of an object that may never come to be
            return
        before = self._last_call(key, handler)
        if act.is_bad:
            self.logged(key, handler, f"{act.outcome}: {act.why}")
            act = replace(act, failures=(before.failures if before else 0) + 1)
        self._remember(key, act)
        self._log(key, act, before, call)

    def acts(self) -> Mapping[Key, Sequence[Act]]:
        """The last call of each handler of each CR, and what it logged; a copy."""
        acts, lines = dict(self._last), defaultdict[Key, list[tuple[str, LoggedLine]]](list)
        for key, handler, line in self._lines:
            lines[key].append((handler, line))
        for key in lines.keys() & acts.keys():
            acts[key] = [
                replace(act, lines=[line for name, line in lines[key] if name == act.name])
                for act in acts[key]
            ]
        return acts

    def forget(self, key: Key) -> None:
        self._last.pop(key, None)

    def _last_call(self, key: Key, handler: str) -> Act | None:
        return next((act for act in self._last.get(key, ()) if act.name == handler), None)

    def _remember(self, key: Key, act: Act) -> None:
        """In the place of the handler's call before."""
        others = (each for each in self._last.get(key, ()) if each.name != act.name)
        self._last[key] = (*others, act)
        self._last.move_to_end(key)
        if len(self._last) > _MOST_CRS:
            self._last.popitem(last=False)

    def _log_review(self, key: Key, call: Json) -> None:
        fields = {**_about(key), "handler": call["handler"], "place": call["place"]}
        if call["outcome"] == "denied":
            _logger.info("admission denied", extra=log_fields(**fields, message=call["why"]))
        elif call["outcome"] != "succeeded":
            _logger.error("handler failed", extra=log_fields(**fields, why=call["why"]))
            _logger.debug("handler failed:\n%s", call["trace"])

    def _log(self, key: Key, act: Act, before: Act | None, call: Json) -> None:
        about = {**_about(key), "handler": act.name, "place": act.place}
        if act.is_bad and (before is None or before.why != act.why):
            is_asked = act.outcome == "retry"
            what = "handler asks for another try" if is_asked else "handler failed"
            level = logging.WARNING if is_asked else logging.ERROR
            _logger.log(level, what, extra=log_fields(**about, why=act.why))
            if call["trace"]:
                _logger.debug("handler failed:\n%s", call["trace"])
        elif before is not None and before.failures and not act.is_bad:
            fields = log_fields(**about, failures=before.failures)
            _logger.info("handler succeeds again", extra=fields)
        elif _logger.isEnabledFor(logging.DEBUG):
            fields = log_fields(**about, outcome=act.outcome, seconds=act.seconds)
            _logger.debug("handler called", extra=fields)


def _about(key: Key) -> dict[str, object]:
    return {"kind": key.gvk.kind, "namespace": key.namespace, "name": key.name}
