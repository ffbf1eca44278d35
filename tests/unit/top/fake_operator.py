"""An operator of which a test says what it says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from rolecall.json_object import Json
from rolecall_dev.top.operator import CommandOutput, LostEngineError, Seen

NOTHING: Json = {"version": "0.1.0", "shards": None}


class FakeOperator:
    """Its states come from a queue; commands are kept, and answered by their first word."""

    def __init__(self, *crs: Json, answers: Mapping[str, CommandOutput] | None = None) -> None:
        self.asked: list[list[str]] = []
        self.answers = dict(answers or {})
        self._states: asyncio.Queue[Seen | LostEngineError] = asyncio.Queue()
        self.says(*crs)

    def says(self, *crs: Json) -> None:
        self._states.put_nowait(Seen({"engine": NOTHING, "crs": list(crs)}, "engine of a test"))

    def is_lost(self, why: str) -> None:
        self._states.put_nowait(LostEngineError(why))

    async def states(self) -> AsyncGenerator[Seen, None]:
        while True:
            found = await self._states.get()
            if isinstance(found, LostEngineError):
                raise found
            yield found

    async def ask(self, words: Sequence[str], width: int = 0) -> CommandOutput:
        self.asked.append(list(words))
        return self.answers.get(words[0], CommandOutput(0, ["done"], []))

    async def follow(self, words: Sequence[str], width: int) -> AsyncGenerator[str, None]:
        for line in (await self.ask(words)).lines:
            yield line

    def acts(self) -> list[list[str]]:
        """The commands that change something."""
        return [words for words in self.asked if words[0] not in ("status", "runs", "logs")]


def cr(name: str, state: str = "ready", kind: str = "Website", **fields: Any) -> Json:
    place = {"api_version": "demo.example.com/v1", "kind": kind, "namespace": "prod", "name": name}
    return {**place, "state": state, "last": None, **fields}
