"""A project in an empty folder, and an API server that says only what time it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.settings import MetricsSettings, ProxySettings, RunnerSettings, Settings
from rolecall_dev.doctor import Surroundings

ServeTime = Callable[..., AbstractAsyncContextManager[dict[str, str]]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
async def surroundings(project: Path) -> AsyncIterator[Callable[..., Surroundings]]:
    """Without a cluster and without kinds, unless the test gives some; ports are free ones."""

    def made(environment: dict[str, str] | None = None, **settings: Any) -> Surroundings:
        quiet: dict[str, Any] = {
            "proxy": ProxySettings(port=0),
            "metrics": MetricsSettings(bind="0", probe_bind="0", role_metrics_port=0),
            "runner": RunnerSettings(root=project / "artifacts"),
        }
        chosen = Settings(**(quiet | settings))
        return Surroundings(chosen, [], None, {"HOME": str(project)} | (environment or {}), project)

    yield made
    await asyncio.get_running_loop().shutdown_default_executor()


@pytest.fixture
def serve_time(project: Path) -> ServeTime:
    """`async with serve_time(ahead) as environment:`: an API server whose clock is off."""

    @asynccontextmanager
    async def served(ahead: timedelta = timedelta()) -> AsyncIterator[dict[str, str]]:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while (await reader.readuntil(b"\r\n\r\n")) if not reader.at_eof() else b"":
                body = json.dumps({"gitVersion": "v1.99.0"}).encode()
                date = format_datetime(datetime.now(UTC) + ahead, usegmt=True)
                head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: {date}\r\n"
                writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()

        serving: set[asyncio.Task[None] | None] = set()

        async def until_gone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            serving.add(asyncio.current_task())
            try:
                await answer(reader, writer)
            except asyncio.IncompleteReadError:
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(until_gone, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            yield {"KUBECONFIG": str(kubeconfig(project, f"http://127.0.0.1:{port}"))}
        finally:
            server.close()
            ended = [task for task in serving if task is not None]
            for task in ended:
                task.cancel()
            await asyncio.gather(*ended, return_exceptions=True)

    return served


def kubeconfig(folder: Path, server: str) -> Path:
    """One that names this server."""
    file = folder / "kubeconfig"
    content = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {}}],
    }
    file.write_text(yaml.safe_dump(content))
    return file
