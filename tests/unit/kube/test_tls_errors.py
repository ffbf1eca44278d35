"""A server that cannot be trusted is an error of one line, with the way out; over real TLS."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from rolecall.kube import Client, Credentials, UnauthorizedError, UnavailableError
from rolecall.kube.tls_errors import TlsError
from tests.fixtures.authorities import DAY, Issued, issue

HERE = ("127.0.0.1", "localhost")
Served = Callable[..., AbstractAsyncContextManager[int]]


@pytest.fixture
def served() -> Served:
    return _served


@asynccontextmanager
async def _served(
    tls: ssl.SSLContext | None, *, ahead: timedelta = timedelta(), code: int = 200
) -> AsyncIterator[int]:
    """An API server that knows nothing but what time it is; yields its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await (reader.readuntil(b"\r\n\r\n") if tls else reader.read(5))
            date = format_datetime((datetime.now(UTC) + ahead).replace(microsecond=0), usegmt=True)
            head = f"HTTP/1.1 {code} X\r\nDate: {date}\r\nContent-Length: 2\r\n\r\n"
            writer.write(head.encode() + b"{}")
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def client(folder: Path, port: int, trusted: str = "", **more: str) -> Client:
    cluster: dict[str, Any] = {"server": f"https://{more.pop('host', '127.0.0.1')}:{port}"}
    if trusted:
        cluster["certificate-authority-data"] = base64.b64encode(trusted.encode()).decode()
    cluster |= {key.replace("_", "-"): value for key, value in more.items() if "client" not in key}
    user = {key.replace("_", "-"): value for key, value in more.items() if "client" in key}
    file = folder / "kubeconfig"
    content = {
        "current-context": "x",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    }
    file.write_text(json.dumps(content))
    return Client(Credentials.load({"KUBECONFIG": str(file)}))


async def complaint(of: Client) -> str:
    async with of:
        with pytest.raises(UnavailableError) as caught:
            await of.read_path("/version")
    assert isinstance(caught.value, TlsError)
    assert len(str(caught.value).splitlines()) == 2
    return str(caught.value)


ROOT = issue("kubernetes")
MIDDLE = issue("middle", ROOT)


def server_of(age: dict[str, timedelta]) -> Issued:
    return issue("server", ROOT, hosts=HERE, **age)


@pytest.mark.parametrize(
    ("age", "ahead", "words"),
    [
        (
            {"begins": -3 * DAY, "ends": -DAY},
            timedelta(),
            r"certificate expired on 20..-..-..\n.*renew",
        ),
        (
            {"begins": DAY, "ends": 3 * DAY},
            timedelta(),
            r"valid from 20.* UTC on\nhint: set the clock",
        ),
        (
            {"begins": DAY, "ends": 9 * DAY},
            4 * DAY,
            r"the clock of this machine, which is 4 days behind its own\nhint: set",
        ),
        (
            {"begins": -9 * DAY, "ends": -DAY},
            -4 * DAY,
            r"has expired by .* [34] days ahead of its own\n",
        ),
    ],
)
async def test_certificate_of_another_time_is_reported_with_the_clock_that_may_be_wrong(
    tmp_path: Path, served: Served, age: dict[str, timedelta], ahead: timedelta, words: str
) -> None:
    async with served(server_of(age).server_tls(tmp_path), ahead=ahead) as port:
        assert re.search(words, await complaint(client(tmp_path, port, ROOT.pem)))


async def test_chain_with_a_missing_link_names_it(tmp_path: Path, served: Served) -> None:
    server = issue("server", MIDDLE, hosts=HERE)
    async with served(server.server_tls(tmp_path)) as port:
        said = await complaint(client(tmp_path, port, ROOT.pem))
    assert (
        "signed by `CN=middle`, which neither the server sent nor `certificate-authority-d" in said
    )
    assert "let the server send its whole chain, or trust `CN=middle`" in said


async def test_whole_chain_and_one_that_ends_at_a_trusted_link_are_accepted(
    tmp_path: Path, served: Served
) -> None:
    server = issue("server", MIDDLE, hosts=HERE)
    async with served(server.server_tls(tmp_path, [MIDDLE])) as port:
        for trusted in (ROOT, MIDDLE):  # as Go does, each named authority is trusted
            async with client(tmp_path, port, trusted.pem) as one:
                assert await one.read_path("/version") == {}


async def test_server_of_an_earlier_cluster_of_the_same_name_is_reported_as_such(
    tmp_path: Path, served: Served
) -> None:
    server = issue("server", issue("kubernetes"), hosts=HERE)
    async with served(server.server_tls(tmp_path)) as port:
        said = await complaint(client(tmp_path, port, ROOT.pem))
    assert "signed by another `CN=kubernetes` than the one in `certificate-authority-data`" in said
    assert "hint: get the kubeconfig again" in said


async def test_wrong_host_name_says_which_would_be_right(tmp_path: Path, served: Served) -> None:
    server = issue("server", ROOT, hosts=("api.example.com", "10.0.0.1"))
    async with served(server.server_tls(tmp_path)) as port:
        said = await complaint(client(tmp_path, port, ROOT.pem))
        assert "is for `api.example.com`, `10.0.0.1`, not for `127.0.0.1`" in said
        assert "or set `tls-server-name: api.example.com` in the kubeconfig" in said
        right = client(tmp_path, port, ROOT.pem, tls_server_name="api.example.com")
        async with right:
            assert await right.read_path("/version") == {}


async def test_certificate_without_any_name_is_reported_as_such(
    tmp_path: Path, served: Served
) -> None:
    """As tools made them that knew the common name only."""
    async with served(issue("localhost", ROOT).server_tls(tmp_path)) as port:
        said = await complaint(client(tmp_path, port, ROOT.pem))
    assert "its certificate is not for `127.0.0.1`\nhint: the server needs a certificate" in said


async def test_self_signed_certificate_without_an_authority_says_where_to_name_it(
    tmp_path: Path, served: Served
) -> None:
    server = issue("server", hosts=HERE)
    async with served(server.server_tls(tmp_path)) as port:
        said = await complaint(client(tmp_path, port))
        assert (
            "its certificate is self-signed, and is not in this machine's list of authorities"
            in said
        )
        assert "put the authority's certificate into `certificate-authority-data`" in said
        named = client(tmp_path, port, server.pem)
        async with named:
            assert await named.read_path("/version") == {}


async def test_authority_that_sends_itself_is_not_trusted_for_that(
    tmp_path: Path, served: Served
) -> None:
    server = issue("server", ROOT, hosts=HERE)
    async with served(server.server_tls(tmp_path, [ROOT])) as port:
        said = await complaint(client(tmp_path, port))
    assert "comes from the authority `CN=kubernetes`, which is not in this machine's list" in said


async def test_port_that_speaks_no_tls_is_reported(tmp_path: Path, served: Served) -> None:
    async with served(None) as port:
        said = await complaint(client(tmp_path, port, ROOT.pem))
    assert "could not speak TLS" in said
    assert "check `server` in the kubeconfig" in said


async def test_cluster_whose_certificates_lack_key_identifiers_is_accepted_on_every_python(
    tmp_path: Path, served: Served
) -> None:
    server = server_of({})
    async with (
        served(server.server_tls(tmp_path)) as port,
        client(tmp_path, port, ROOT.pem) as one,
    ):
        assert await one.read_path("/version") == {}


@pytest.mark.parametrize(
    ("age", "hint"),
    [
        ({"begins": -3 * DAY, "ends": -DAY}, "renew the client certificate, which expired on 20"),
        ({"begins": DAY, "ends": 3 * DAY}, "on: is the clock of this machine behind?"),
        ({}, ""),
    ],
)
async def test_refused_client_certificate_says_that_it_expired(
    tmp_path: Path, served: Served, age: dict[str, timedelta], hint: str
) -> None:
    mine, server = issue("me", ROOT, hosts=("me",), **age), server_of({})
    (tmp_path / "me.crt").write_text(mine.pem)
    (tmp_path / "me.key").write_text(mine.key_pem)
    pair = {"client_certificate": str(tmp_path / "me.crt"), "client_key": str(tmp_path / "me.key")}
    async with (
        served(server.server_tls(tmp_path), code=401) as port,
        client(tmp_path, port, ROOT.pem, **pair) as one,
    ):
        with pytest.raises(UnauthorizedError) as caught:
            await one.read_path("/version")
    assert hint in caught.value.hint if hint else not caught.value.hint


async def test_refused_client_without_credentials_names_what_it_lacks(
    tmp_path: Path, served: Served
) -> None:
    server = server_of({})
    async with (
        served(server.server_tls(tmp_path), code=401) as port,
        client(tmp_path, port, ROOT.pem) as one,
    ):
        with pytest.raises(UnauthorizedError) as caught:
            await one.read_path("/version")
    assert "has no credentials" in caught.value.hint


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_server_that_demands_another_client_certificate_is_reported(
    tmp_path: Path, version: ssl.TLSVersion
) -> None:
    tls = server_of({}).server_tls(tmp_path)
    tls.load_verify_locations(cadata=ROOT.pem)
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.maximum_version = version
    with socket.create_server(("127.0.0.1", 0)) as listening:
        # In a thread, since asyncio hangs up without the alert that other servers send.
        refusing = threading.Thread(target=refuse, args=(listening, tls))
        refusing.start()
        try:
            said = await complaint(client(tmp_path, listening.getsockname()[1], ROOT.pem))
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            refusing.join()
    assert "it refused the client certificate, or requires one" in said


def refuse(listening: socket.socket, tls: ssl.SSLContext) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            with tls.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            ) as refusing:
                with suppress(ssl.SSLError):
                    refusing.do_handshake()
                # A server that closes with a request unread resets the connection, and loses the alert.
                refusing.shutdown(socket.SHUT_WR)
                while refusing.recv(4096):
                    pass
