"""Sends a trace of each turn that had a run, and of each call of a handler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from rolecall.extending import Act, EndedTurn, EngineView, Extension
from rolecall.extensions.traces.model import TurnTraces
from rolecall.extensions.traces.switch import open_traces
from rolecall.workqueue import Key


class TracesExtension(Extension):
    name = "traces"

    def __init__(self, engine: EngineView, traces: TurnTraces) -> None:
        super().__init__(engine)
        self._traces = traces

    @classmethod
    def begin(cls, engine: EngineView) -> Self | None:
        traces = open_traces(engine.environment, engine.clock, engine.version)
        return None if traces is None else cls(engine, traces)

    def turns_ended(self, turns: Sequence[EndedTurn]) -> None:
        for each in turns:
            if (trail := each.outcome.trail) is not None:
                self._traces.take(each, trail)

    def acted(self, key: Key, act: Act) -> None:
        self._traces.take_act(key, act)

    def close(self, timeout_s: float) -> None:
        self._traces.close(timeout_s)
