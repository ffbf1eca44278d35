"""Runs the tiny roles of this folder with a runner, as the engine would.

A play takes a second, so tests share them: a fixture runs one role that does many things, and each
test looks at one of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rolecall.gvk import Gvk
from rolecall.runner import (
    RunEvent,
    RunHandle,
    Runner,
    RunRequest,
    RunResult,
    create_runner,
    terms_of,
)
from rolecall.settings import RunnerSettings
from rolecall.watches import Play, Watch

HERE = Path(__file__).parent
APP = Gvk("demo.example.com", "v1", "App")
CREDENTIAL = "per-run-random-password"


@dataclass
class Played:
    """What a run came to, and what it left."""

    result: RunResult
    events: list[RunEvent]

    @property
    def stdout(self) -> str:
        """What the play printed."""
        assert self.result.artifacts is not None
        return (self.result.artifacts / "stdout").read_text()

    @property
    def files(self) -> dict[str, str]:
        """Every artifact."""
        assert self.result.artifacts is not None
        paths = (path for path in self.result.artifacts.rglob("*") if path.is_file())
        return {str(path): path.read_text() for path in paths}

    def messages(self, task: str) -> list[Any]:
        """What the debug tasks of this name said."""
        names = ("runner_on_ok", "runner_item_on_ok")
        return [
            event.data["res"].get("msg")
            for event in self.events
            if event.name in names and event.data.get("task") == task
        ]


@dataclass
class Workspace:
    """A folder to run in, and the way of starting runs."""

    folder: Path
    way: str = "stock"
    settings: dict[str, Any] = field(default_factory=dict)
    runs: int = 0

    @property
    def root(self) -> Path:
        """Where the private folders lie."""
        return self.folder / "runner"

    def runner(self) -> Runner:
        """A runner for this workspace."""
        settings: dict[str, Any] = {"skip_facts": True, **self.settings}
        return create_runner(RunnerSettings(root=self.root, way=self.way, **settings))

    def request(self, play: Play | str, spec: Any = None, **fields: Any) -> RunRequest:
        """A request to run a role of this folder, by name, or another play."""
        if isinstance(play, str):
            play = Play(HERE / "roles" / play, is_role=True)
        self.runs += 1
        metadata = {"name": "shop", "namespace": "demo", **fields.pop("metadata", {})}
        cr = {
            "apiVersion": APP.api_version,
            "kind": APP.kind,
            "metadata": metadata,
            "spec": spec or {},
            **fields.pop("more", {}),
        }
        limits = {name: fields.pop(name, None) for name in ("timeout_s", "no_progress_timeout_s")}
        return RunRequest(
            run_id=str(7000 + self.runs),
            cr=cr,
            is_finalizer=False,
            kubeconfig=self._kubeconfig(),
            verbosity=fields.pop("verbosity", 2),
            keep_artifacts=fields.pop("keep", 20),
            terms=terms_of(Watch(APP, play, **fields)),
            **limits,
        )

    def _kubeconfig(self) -> Path:
        path = self.folder / "kubeconfig"
        user = {"name": "play", "user": {"username": "owner", "password": CREDENTIAL}}
        path.write_text(yaml.safe_dump({"kind": "Config", "users": [user]}))
        return path


def play(workspace: Workspace, what: Play | str, spec: Any = None, **fields: Any) -> Played:
    """Run a play to its end, from a test that is not asynchronous."""

    async def run() -> Played:
        async with started(workspace, what, spec, **fields) as (handle, events):
            return Played(await handle.result(), events)

    return asyncio.run(run())


@asynccontextmanager
async def started(
    workspace: Workspace, what: Play | str, spec: Any = None, **fields: Any
) -> AsyncIterator[tuple[RunHandle, list[RunEvent]]]:
    """Start a run; whatever happens, nothing of it is left afterwards."""
    runner = workspace.runner()
    events: list[RunEvent] = []
    try:
        yield await runner.start(workspace.request(what, spec, **fields), events.append), events
    finally:
        await runner.close()
