"""A watch is taken apart into events, however its bytes arrive."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import aiohttp
import pytest

from rolecall.kube import ApiError, GoneError, Target, UnavailableError, WatchEvent
from rolecall.kube.streams import decode_events

TARGET = Target("watch", path="/api/v1/secrets")


def line(event: str, **document: Any) -> bytes:
    return json.dumps({"type": event, "object": document}).encode() + b"\n"


async def events_of(body: bytes, piece: int) -> list[WatchEvent]:
    """The events of a body that arrives in pieces of this size."""

    async def iter_any() -> AsyncIterator[bytes]:
        for start in range(0, len(body), piece):
            yield body[start : start + piece]

    response = SimpleNamespace(content=SimpleNamespace(iter_any=iter_any))
    decoded = decode_events(cast(aiohttp.ClientResponse, response), TARGET)
    return [event async for event in decoded]


@pytest.mark.parametrize("piece", [1, 7, 4096, 10_000_000])
async def test_events_come_whole_whatever_the_pieces(piece: int) -> None:
    long_text = "ä\n" * (2_000_000 if piece > 7 else 100)
    named = {"name": "a", "resourceVersion": "7"}
    body = line("ADDED", metadata=named) + line("MODIFIED", metadata=named, text=long_text)
    first, second, last = await events_of(body + b"\n" + line("BOOKMARK", metadata={}), piece)
    assert (first.type, first.resource_version) == ("ADDED", "7")
    assert (second.type, second.object["text"]) == ("MODIFIED", long_text)
    assert last.type == "BOOKMARK"


@pytest.mark.parametrize(
    ("code", "kind"), [(410, GoneError), (504, UnavailableError), (500, ApiError)]
)
async def test_error_in_the_stream_is_raised_by_meaning(code: int, kind: type[Exception]) -> None:
    body = line("ERROR", kind="Status", code=code, message="too old resource version")
    with pytest.raises(kind, match="could not watch `/api/v1/secrets`: too old"):
        await events_of(body, 4096)


async def test_half_a_line_at_the_end_is_no_event() -> None:
    event = line("ADDED", metadata={"name": "a"})
    assert len(await events_of(event + event[:10], 4096)) == 1


async def test_event_of_an_unreadable_object_moves_the_stream_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    metadata = '{"name": "bad", "namespace": "x", "resourceVersion": "8"}'
    bad = f'{{"type": "ADDED", "object": {{"kind": "App", "metadata": {metadata}, "spec": {deep}}}}}\n'
    first, second = await events_of(
        bad.encode() + line("ADDED", metadata={"name": "a", "resourceVersion": "9"}), 4096
    )
    assert (first.type, first.resource_version) == ("BOOKMARK", "8")
    assert (second.type, second.resource_version) == ("ADDED", "9")
    assert "an object is nested too deeply to be read" in caplog.text


async def test_line_without_an_object_that_is_nested_without_end_is_no_event() -> None:
    with pytest.raises(UnavailableError, match="is not JSON"):
        await events_of(b"[" * 100_000 + b"\n", 4096)
