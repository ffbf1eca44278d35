"""Who may speak to an engine, and which one answers."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
from pathlib import Path

import pytest
from tests.unit.extensions.console.control.engine import Known, World, key, state

from rolecall.extensions.console.control import served_control
from rolecall.local_engine import engines_of


async def test_socket_is_for_its_own_user_and_goes_with_its_engine(world: World) -> None:
    async with world.served() as path:
        assert path == world.root / "control.sock"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert len(await asyncio.to_thread(engines_of, [world.root])) == 1
    assert engines_of([world.root]) == []
    assert not path.exists()


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
        assert len(await asyncio.to_thread(engines_of, [world.root])) == 2


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
