"""`--run-record`: what each run read and wrote, for other extensions and beside its artifacts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from rolecall.clock import Clock, SystemClock
from rolecall.extending import CommandView, EngineView, Extension
from rolecall.extensions.record.flags import RecordFlags
from rolecall.extensions.record.notes import RequestNote, RunNotes
from rolecall.proxy import (
    AskedExchange,
    ExchangeFollower,
    FollowRun,
    Owner,
    RunFollower,
    names_owner,
    object_in_protobuf,
)
from rolecall.reconcile import BegunRun
from rolecall.record import RequestsSoFar, RunRecord
from rolecall.runner import RunEvent

T = TypeVar("T")


class RecordExtension(Extension):
    name = "record"

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        self._is_on = engine.settings.extension(RecordFlags).is_on
        self.publishes = (RunRecord, RequestsSoFar) if self._is_on else ()

    def follow(self, run: BegunRun) -> RunFollower | None:
        """Always one whose writes are not kept: it is there to find out which task would do what."""
        if not (self._is_on or run.is_without_effect):
            return None
        return RunRecorder(run, self.engine.clock)

    @classmethod
    def follows(cls, command: CommandView) -> FollowRun:  # noqa: ARG003 - it keeps nothing
        return lambda run: RunRecorder(run, SystemClock())


class RunRecorder(RunFollower):
    """Takes notes of a run, and writes its record when it is over."""

    def __init__(self, run: BegunRun, clock: Clock) -> None:
        is_owned = partial(names_owner, owner=Owner.of(run.cr))
        self._notes = RunNotes(run.run_id, is_owned, clock)

    def begin(self, exchange: AskedExchange) -> ExchangeFollower:
        note = self._notes.begin(exchange.info, exchange.query)
        note.at_s, note.agent = exchange.at_s, exchange.agent
        note.is_stream, note.sent_type = exchange.is_endless, exchange.media_type
        note.read_protobuf = object_in_protobuf
        return _NotedExchange(self._notes, note)

    def event(self, event: RunEvent) -> None:
        self._notes.task(event.name, event.data, event.at_s, place=event.place, said=event.stdout)

    def leave_beside(self, folder: Path) -> None:
        self._notes.write_into(folder)

    def finding(self, kind: type[T]) -> T | None:
        if kind is RunRecord:
            return cast("T", self._notes.record())
        return cast("T", self._notes) if kind is RequestsSoFar else None


class _NotedExchange(ExchangeFollower):
    def __init__(self, notes: RunNotes, note: RequestNote) -> None:
        self._notes, self._note = notes, note

    def sent(self, body: bytes) -> None:
        self._note.send(body)

    def answering(self, code: int, media_type: str) -> None:
        self._note.code, self._note.answer_type = code, media_type

    def answered(self, piece: bytes) -> None:
        self._note.answer(piece)

    def over(self) -> None:
        self._notes.end(self._note, self._note.code)
