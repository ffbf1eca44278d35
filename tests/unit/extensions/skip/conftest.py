"""An engine's skips, and a world of one CR that reads one Secret."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rolecall.clock import SystemClock
from rolecall.extensions.skip import CurrentReads, ProjectDigests, SkipFacts, Skips, SkipUnchanged
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.record import RecordedRequest, RunRecord
from rolecall.runner import Ending, RunResult
from rolecall.watches import Play, Watch
from rolecall.workqueue import EDIT, PERIOD, Cause, Key, Turn, Urgency
from tests.fixtures.requests import recorded

APP = Gvk("demo.example.com", "v1", "App")
KEY = Key(APP, "shop", "web")
RUN = RunResult("1", Ending.FINISHED, 0, impure="", way="warm")
READ = recorded(resource="secrets", namespace="shop", name="key", object_version="7", uid="u7")


class Api:
    """An API server with one Secret."""

    def __init__(self) -> None:
        self.version = "7"
        self.kinds = b"kinds"
        self.asked: list[str] = []

    async def read_bytes(self, path: str, *, accept: str = "") -> bytes:
        assert accept
        self.asked.append(path)
        if path in ("/api", "/apis", "/openapi/v3", "/version"):
            return self.kinds
        if not self.version:
            return b""
        metadata = {"name": "key", "namespace": "shop", "resourceVersion": self.version}
        one = {"kind": "PartialObjectMetadata", "metadata": {**metadata, "uid": "u7"}}
        many = {"kind": "PartialObjectMetadataList", "metadata": {}, "items": [one]}
        return json.dumps(many if "?limit" in path else one).encode()


class MemoryStore:
    """Keeps parts, over restarts of their writer."""

    def __init__(self) -> None:
        self.parts: dict[int, bytes] = {}

    async def read(self, part: int) -> bytes:
        return self.parts.get(part, b"")

    async def write(self, part: int, text: bytes) -> None:
        self.parts[part] = text


class Clock(SystemClock):
    """Time that a test moves."""

    def __init__(self) -> None:
        self.passed_s = 0.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(1_800_000_000 + self.passed_s, UTC)

    def monotonic(self) -> float:
        return 1000.0 + self.passed_s


class World:
    """An engine's skips, and all that they look at."""

    def __init__(self, folder: Path) -> None:
        self.role = folder / "app"
        (self.role / "tasks").mkdir(parents=True)
        (self.role / "tasks" / "main.yml").write_text("[]")
        self.watch = Watch(APP, Play(self.role, is_role=True), of_extensions=(SkipUnchanged(),))
        self.api, self.store, self.clock = Api(), MemoryStore(), Clock()
        self.versions: tuple[str, ...] = ("1",)
        self.environment: Mapping[str, str] = {"TIER": "gold"}
        self.skips = self.started()

    def started(self) -> Skips:
        """As after a start of the engine."""
        reads = CurrentReads(self.api, self.clock)
        projects = ProjectDigests(lambda play: (play.path,), self.clock)
        facts = SkipFacts(self.versions, self.environment)
        return Skips({APP: self.watch}, facts, reads, projects, self.store, self.clock)

    async def run(
        self, *requests: RecordedRequest, seen: Json | None = None, **changes: Any
    ) -> None:
        """A run, from the turn that made it to its end."""
        await self.why(cause=EDIT)
        numbered = [replace(each, number=number) for number, each in enumerate(requests)]
        record = RunRecord("1", self.clock.now(), 0.0, (), tuple(numbered))
        given = (cr(), seen or cr())
        await self.skips.ran(KEY, self.watch, given, replace(RUN, **changes), record)

    async def why(self, cr_now: Json | None = None, cause: Cause = PERIOD) -> str:
        """Why a turn needs no run."""
        self.clock.passed_s += 1.0
        turn = Turn(KEY, Urgency.PERIOD, 0.0, cause)
        return await self.skips.why_no_run(turn, self.watch, cr_now or cr(), 3600.0)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    yield World(tmp_path)
    await asyncio.get_running_loop().shutdown_default_executor()  # it looked at files


def cr(**changes: Any) -> Json:
    conditions = [
        {"type": "Running", "status": "True", "reason": "Successful", "lastTransitionTime": "1"},
    ]
    whole: Json = {
        "apiVersion": APP.api_version,
        "kind": APP.kind,
        "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": "1"},
        "spec": {"size": 1},
        "status": {"conditions": conditions, "observedGeneration": 1},
    }
    for path, value in changes.items():
        *above, last = path.split("__")
        part = whole
        for name in above:
            part = part.setdefault(name, {})
        part[last] = value
    return whole
