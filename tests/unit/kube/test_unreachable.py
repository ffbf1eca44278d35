"""An API server that is not there is reported by name and port, not as an object at some address."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
import yaml

from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials, UnavailableError, why_unreachable


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def said_of(tmp_path: Path, server: str) -> str:
    """What a read of one object says where no server answers."""
    cluster = {"server": server, "insecure-skip-tls-verify": True}
    config = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    (tmp_path / "config").write_text(yaml.safe_dump(config))
    credentials = Credentials.load({"KUBECONFIG": str(tmp_path / "config")})
    async with Client(credentials) as client:
        with pytest.raises(UnavailableError) as caught:
            await client.get(Gvk("", "v1", "ConfigMap"), "shop", "made")
    return caught.value.message


async def test_dead_api_server_is_reported_by_its_address(tmp_path: Path) -> None:
    port = free_port()
    said = await said_of(tmp_path, f"https://127.0.0.1:{port}")
    assert said.endswith(f": `127.0.0.1:{port}` refused the connection: nothing listens there")
    assert "object at 0x" not in said


def test_unknown_host_is_reported_by_its_name() -> None:
    key: Any = SimpleNamespace(host="nowhere.invalid", port=6443, is_ssl=True, ssl=True)
    failure = aiohttp.ClientConnectorDNSError(key, OSError(-2, "Name or service not known"))
    assert why_unreachable(failure) == "the host name `nowhere.invalid` could not be resolved"


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (TimeoutError(), "no answer in time"),
        (TimeoutError(), "no answer in time"),
        (aiohttp.ServerDisconnectedError(), "the connection was closed before an answer came"),
        (ConnectionResetError(104, "x"), "the connection failed: Connection reset by peer"),
        (aiohttp.ClientPayloadError("half an answer"), "half an answer"),
        (aiohttp.ClientError(), "ClientError"),
    ],
)
def test_other_failures_have_words_too(failure: Exception, words: str) -> None:
    assert why_unreachable(failure) == words
