"""Notes an exchange for the record of its run, whatever became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aiohttp import web

from rolecall.proxy.exchange import Exchange
from rolecall.proxy.protobuf import object_in_protobuf
from rolecall.record import RequestNote

OnAnswer = Callable[[web.StreamResponse], None]


@contextmanager
def noted(exchange: Exchange) -> Iterator[OnAnswer]:
    """Note the exchange when it is over; give the answer to what this yields, if there is one."""
    note, notes = exchange.note, exchange.credential.notes
    if note is None or notes is None:
        yield lambda _: None
        return
    note.is_stream, note.sent_type = exchange.is_endless, exchange.media_type
    note.read_protobuf = object_in_protobuf
    note.agent = exchange.request.headers.get("User-Agent", "")
    codes: list[int] = []

    def answered(answer: web.StreamResponse) -> None:
        codes.append(answer.status)
        note.answer_type = answer.content_type
        if isinstance(answer, web.Response):  # others were noted piece by piece
            _take_whole(note, answer)

    try:
        yield answered
    finally:
        notes.end(note, codes[0] if codes else note.code)


def _take_whole(note: RequestNote, answer: web.Response) -> None:
    if isinstance(answer.body, bytes):
        note.answer(answer.body)
