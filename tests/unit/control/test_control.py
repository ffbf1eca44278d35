"""A real engine's worth of state behind a real unix socket."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rolecall.clock import SystemClock
from rolecall.control import (
    ControlError,
    EngineFacts,
    EnginePorts,
    LastRuns,
    ask,
    served_control,
    sockets_of,
    states,
)
from rolecall.gvk import Gvk
from rolecall.history import KeptRun, kept_cr, this_process, write_run
from rolecall.reconcile import Progress
from rolecall.workqueue import Cause, Delayed, Key, Urgency, Waiting

SITE = Gvk("demo.example.com", "v1", "Website")
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@dataclass
class Known:
    generation: int | None = 1
    is_paused: bool = False


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
            facts=EngineFacts("1.2.3", 4711, NOON, [SITE]),
            clock=self.clock,
            plurals=lambda: {SITE: "websites"},
            known=lambda: dict(self.known),
            in_flight=lambda: self.in_flight,
            waiting=lambda: self.waiting,
            delayed=lambda: self.delayed,
            leads=lambda: self.leads,
            leader=lambda: "the-other-pod",
            reconcile=lambda key, cause: self.asked.append((str(key), cause.text)),
        )

    @asynccontextmanager
    async def served(self) -> AsyncIterator[Path]:
        async with served_control(self.root, self.ports, self.last_runs) as path:
            assert path is not None
            yield path

    def keep(self, name: str, **fields: Any) -> None:
        folder = kept_cr(self.root, SITE, "shop", name).artifacts / fields.get("run", "1")
        folder.mkdir(parents=True, exist_ok=True)
        run = KeptRun("1", began=NOON, ended=NOON, engine=this_process(), folder=folder)
        write_run(replace(run, **fields))


@pytest.fixture(autouse=True)
async def no_threads_left() -> AsyncIterator[None]:
    yield
    await asyncio.get_running_loop().shutdown_default_executor()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def asked(path: Path, method: str, target: str, body: Any = None) -> tuple[int, Any]:
    return await asyncio.to_thread(ask, path, method, target, body)


async def state(path: Path) -> dict[str, dict[str, Any]]:
    code, document = await asked(path, "GET", "/v1/state")
    assert code == 200
    return {cr["name"]: cr for cr in document["crs"]}


async def test_state_says_of_each_cr_what_it_is_at(world: World) -> None:
    for name in ("busy", "queued", "broken", "fine", "new", "asleep"):
        world.known[key(name)] = Known(is_paused=name == "asleep")
    world.in_flight[key("busy")] = Progress(
        "77", "edit of generation 4", NOON, NOON, NOON, "build it", "roles/web/tasks/main.yml:3"
    )
    ticks = world.clock.monotonic()
    cause = Cause("drift of Deployment web")
    world.waiting.append(Waiting(key("queued"), Urgency.DEPENDENT, cause, ticks - 5, 1))
    world.delayed.append(Delayed(key("broken"), Urgency.RETRY, Cause("retry 3"), ticks + 60, 1))
    world.keep("broken", outcome="failed", reason="no such module", seconds=2.5)
    world.keep("fine", outcome="succeeded")

    async with world.served() as path:
        crs = await state(path)

    assert {name: cr["state"] for name, cr in crs.items()} == {
        "busy": "running",
        "queued": "waiting",
        "broken": "failed",
        "fine": "ready",
        "new": "unknown",
        "asleep": "paused",
    }
    busy, queued, broken = crs["busy"], crs["queued"], crs["broken"]
    assert (busy["run"], busy["task"], busy["place"]) == (
        "77",
        "build it",
        "roles/web/tasks/main.yml:3",
    )
    assert (busy["cause"], busy["began"]) == ("edit of generation 4", "2026-11-22T12:00:00Z")
    assert (queued["urgency"], queued["cause"]) == ("dependent", "drift of Deployment web")
    waited = world.clock.now() - datetime.fromisoformat(queued["waiting_since"])
    assert timedelta(seconds=4) < waited < timedelta(seconds=60)
    assert (broken["next_why"], broken["last"]["reason"]) == ("retry 3", "no such module")
    assert datetime.fromisoformat(broken["next_at"]) > world.clock.now() + timedelta(seconds=20)
    assert crs["new"]["last"] is None


async def test_engine_says_who_it_is(world: World) -> None:
    async with world.served() as path:
        _, document = await asked(path, "GET", "/v1/state")

    engine = document["engine"]
    assert (engine["version"], engine["pid"], engine["leads"]) == ("1.2.3", 4711, True)
    assert engine["watches"] == [
        {"kind": "Website", "api_version": "demo.example.com/v1", "plural": "websites"}
    ]


async def test_last_run_is_read_again_after_a_turn_and_not_before(world: World) -> None:
    world.known[key("a")] = Known()
    world.keep("a", outcome="succeeded")
    async with world.served() as path:
        assert (await state(path))["a"]["state"] == "ready"
        world.keep("a", outcome="failed", reason="broken")
        assert (await state(path))["a"]["state"] == "ready"

        world.last_runs.turn_over(key("a"), "broken", has_run=True)

        assert (await state(path))["a"]["last"]["reason"] == "broken"


async def test_turn_that_failed_before_a_run_is_told_by_its_error(world: World) -> None:
    world.known[key("a")] = Known()
    world.last_runs.turn_over(key("a"), "no connection", has_run=False)

    async with world.served() as path:
        a = (await state(path))["a"]

    assert (a["state"], a["last"]["reason"], a["last"]["run"]) == ("failed", "no connection", "")


async def test_watcher_gets_a_line_for_each_change_and_none_for_none(world: World) -> None:
    world.known[key("a")] = Known()
    async with world.served() as path:
        lines = states(path)
        first = await asyncio.to_thread(next, lines)
        world.known[key("b")] = Known()
        second = await asyncio.to_thread(next, lines)
        lines.close()

    assert [cr["name"] for cr in first["crs"]] == ["a"]
    assert [cr["name"] for cr in second["crs"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        ({"kind": "Website", "namespace": "shop", "name": "a"}, ["Website shop/a"]),
        ({"kind": "website", "name": "a"}, ["Website shop/a"]),
        ({"all": True}, ["Website shop/a", "Website shop/b", "Website store/b"]),
        ({"kind": "Website", "all": True, "namespace": "store"}, ["Website store/b"]),
    ],
)
async def test_reconcile_reaches_whom_it_names(
    world: World, body: dict[str, Any], keys: list[str]
) -> None:
    world.known = {key("a"): Known(), key("b"): Known(is_paused=True), key("b", "store"): Known()}
    async with world.served() as path:
        code, answer = await asked(path, "POST", "/v1/reconcile", body)

    assert (code, answer["keys"]) == (202, keys)
    assert answer["paused"] == [each for each in keys if each == "Website shop/b"]
    assert world.asked == [(each, "asked for by a person") for each in keys]


@pytest.mark.parametrize(
    ("body", "code", "error"),
    [
        (
            {"kind": "Website", "name": "blgo"},
            404,
            "there is no Website blgo; there are: shop/blog",
        ),
        (
            {"kind": "Websit", "name": "blog"},
            404,
            "there is no Websit; kinds with objects: Website",
        ),
        ({"kind": "Website", "name": "two"}, 404, "Website two is in shop, store"),
        ({}, 400, "say `kind` and `name`"),
        ([], 400, "no JSON object"),
        ({"kind": 3, "name": "x"}, 400, "`kind` is no text"),
    ],
)
async def test_refusal_says_what_is_there(world: World, body: Any, code: int, error: str) -> None:
    world.known = {key("blog"): Known(), key("two"): Known(), key("two", "store"): Known()}
    async with world.served() as path:
        found, answer = await asked(path, "POST", "/v1/reconcile", body)

    assert found == code
    assert error in answer["error"]
    assert world.asked == []


async def test_replica_that_does_not_lead_names_the_leader(world: World) -> None:
    world.known[key("a")] = Known()
    world.leads = False
    async with world.served() as path:
        code, answer = await asked(path, "POST", "/v1/reconcile", {"all": True})

    assert code == 409
    assert "`the-other-pod` does" in answer["error"]
    assert world.asked == []


async def test_socket_is_for_its_own_user_and_goes_with_its_engine(world: World) -> None:
    async with world.served() as path:
        assert path == world.root / "control.sock"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert await asyncio.to_thread(sockets_of, world.root) == [path]
        await state(path)  # the connection before was taken and let go

    assert sockets_of(world.root) == []
    assert not path.exists()
    with pytest.raises(ControlError, match="no engine answers"):
        ask(path, "GET", "/v1/state")


async def test_file_of_a_killed_engine_is_replaced(world: World) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(world.root / "control.sock"))
    left.close()

    async with world.served() as path:
        assert await state(path) == {}


async def test_second_engine_on_one_folder_takes_nothing_from_the_first(world: World) -> None:
    second = World(world.root)
    second.known[key("second")] = Known()
    async with world.served() as path, second.served() as other:
        assert await state(path) == {}
        assert list(await state(other)) == ["second"]
        assert await asyncio.to_thread(sockets_of, world.root) == [path, other]
        for each in (path, other):  # the connections before were taken and let go
            await state(each)


async def test_long_path_is_no_trouble(tmp_path: Path) -> None:
    root = tmp_path / ("long" * 20) / ("longer" * 20)
    root.mkdir(parents=True)
    async with World(root).served() as path:
        assert len(os.fsencode(path)) > 108
        assert await state(path) == {}


async def test_engine_works_on_where_there_can_be_no_socket(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    nowhere = world.root / "missing"
    async with served_control(nowhere, world.ports, world.last_runs) as path:
        assert path is None

    assert "no control socket" in caplog.text


async def test_body_that_is_no_json_is_refused(world: World) -> None:
    async with world.served() as path:
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(b"POST /v1/reconcile HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n{")
        line = await reader.readline()
        writer.close()

    assert b"400" in line
    assert json.dumps(world.asked) == "[]"
