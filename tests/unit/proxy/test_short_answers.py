"""Which answers are read whole before they are passed on, and which are streamed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import aiohttp
import pytest

from rolecall.proxy.forward import _read_short


@dataclass
class Content:
    """A body whose end is seen by the read after its last byte, as on a connection that is kept."""

    pieces: list[bytes]
    ended: bool = False

    async def readany(self) -> bytes:
        if self.pieces:
            return self.pieces.pop(0)
        self.ended = True
        return b""

    def at_eof(self) -> bool:
        return self.ended


@dataclass
class Answer:
    content: Content = field(default_factory=lambda: Content([]))


@pytest.mark.parametrize(
    ("pieces", "is_whole"),
    [
        ([], True),
        ([b"x" * 9], True),
        ([b"x" * 4, b"x" * 5], True),
        ([b"x" * 10], False),
        ([b"x" * 4, b"x" * 6], False),
        ([b"x" * 30], False),
    ],
)
async def test_answer_is_read_whole_if_it_is_below_the_limit(
    pieces: list[bytes], is_whole: bool
) -> None:
    body = b"".join(pieces)
    answer = cast(aiohttp.ClientResponse, Answer(Content(list(pieces))))
    assert await _read_short(answer, 10) == (body, is_whole)
