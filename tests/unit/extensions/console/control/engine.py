"""An engine as the control socket sees it, behind a real one."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rolecall.clock import SystemClock
from rolecall.election import KeyDivision
from rolecall.extending import EngineFacts, EnginePorts, LastRuns
from rolecall.extensions.console.control import served_control
from rolecall.extensions.console.control.sockets import address_of
from rolecall.extensions.shards import MemberView, ShardsView
from rolecall.gvk import Gvk
from rolecall.history import KeptRun, kept_cr, this_process, write_run
from rolecall.reconcile import PauseNote, Progress
from rolecall.workqueue import Delayed, Key, Waiting

SITE = Gvk("demo.example.com", "v1", "Website")
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@dataclass
class Known:
    generation: int | None = 1
    is_paused: bool = False
    is_selected: bool = True
    pause_note: PauseNote | None = None
    is_deleted: bool = False


def key(name: str, namespace: str = "shop") -> Key:
    return Key(SITE, namespace, name)


@dataclass
class World:
    """An engine, as far as the socket sees it."""

    root: Path
    known: dict[Key, Known] = field(default_factory=dict)
    in_flight: dict[Key, Progress] = field(default_factory=dict)
    waiting: list[Waiting] = field(default_factory=list)
    delayed: list[Delayed] = field(default_factory=list)
    leads: bool = True
    asked: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = SystemClock()
        self.last_runs = LastRuns(self.root)
        self.ports = EnginePorts(
            facts=EngineFacts("1.2.3", 4711, NOON, [SITE], "https://10.0.0.1:6443"),
            clock=self.clock,
            plurals=lambda: {SITE: "websites"},
            known=lambda: {SITE: {(key.namespace, key.name): it for key, it in self.known.items()}},
            in_flight=lambda: self.in_flight,
            waiting=lambda: self.waiting,
            delayed=lambda: self.delayed,
            acts=dict,
            leads=lambda: self.leads,
            leader=lambda: "the-other-pod",
            reconcile=lambda key, cause: self.asked.append((str(key), cause.text)),
            stop=lambda key, by: self.asked.append((str(key), f"stop for {by}")),
        )

    @asynccontextmanager
    async def served(self) -> AsyncIterator[Path]:
        async with served_control(self.root, self.ports, self.last_runs) as path:
            assert path is not None
            yield path

    def divide(self, mine: Sequence[int], theirs: Sequence[int], **more: Any) -> None:
        """From now on CRs are divided: that in shard 3 is called `...3`."""
        own = MemberView("web-0", "a1", 4, tuple(mine), 12.5, 1.0, is_self=True, version="1.2.3")
        other = MemberView("web-1", "b2", 4, tuple(theirs), 3.0, 2.0)
        view = ShardsView(4, (other, own), **more)
        division = KeyDivision(4, lambda: view, lambda key: int(key.name[-1]))
        self.ports = replace(self.ports, division=division)

    def keep(self, name: str, **fields: Any) -> None:
        folder = kept_cr(self.root, SITE, "shop", name).artifacts / fields.get("run", "1")
        folder.mkdir(parents=True, exist_ok=True)
        run = KeptRun("1", began=NOON, ended=NOON, engine=this_process(), folder=folder)
        write_run(replace(run, **fields))


async def asked(path: Path, method: str, target: str, body: Any = None) -> tuple[int, Any]:
    """The answer of the engine behind a socket."""

    def ask() -> tuple[int, Any]:
        connection = http.client.HTTPConnection("localhost", timeout=30)
        with closing(connection), address_of(path) as address:
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.connect(address)
            connection.request(method, target, json.dumps(body))
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    return await asyncio.to_thread(ask)


async def state(path: Path) -> dict[str, dict[str, Any]]:
    """What it says of its CRs, by name."""
    code, document = await asked(path, "GET", "/v1/state")
    assert code == 200
    return {cr["name"]: cr for cr in document["crs"]}
