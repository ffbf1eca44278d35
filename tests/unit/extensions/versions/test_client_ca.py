"""With `--webhook-client-ca`, only a client with a certificate of that authority is answered."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from rolecall.errors import InputError
from rolecall.extending import Endpoints
from rolecall.extensions.versions.flags import VersionFlags
from rolecall.extensions.versions.webhooks import server as server_module
from rolecall.extensions.versions.webhooks.routes import Asked
from rolecall.extensions.versions.webhooks.server import WebhookServer, tls_for_webhooks
from rolecall.listening import Address
from rolecall.settings import Settings
from tests.fixtures.authorities import Issued, issue
from tests.unit.extending.views import engine_view

NOT_ASKED_FOR = 404  # who gets so far would get an answer of a webhook, too


@pytest.fixture(autouse=True)
def no_lingering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "LINGER_S", 0.0)


@pytest.fixture
def authority() -> Issued:
    return issue("the API servers' authority")


@asynccontextmanager
async def webhooks(folder: Path, authority: Issued | None) -> AsyncIterator[str]:
    """Those of an engine with the flag, or without."""
    file = None
    if authority is not None:
        file = folder / "client-ca.pem"
        file.write_text(authority.pem)
    own = issue("webhooks", hosts=["127.0.0.1"])
    (folder / "tls.crt").write_text(own.pem)
    (folder / "tls.key").write_text(own.key_pem)
    flags = VersionFlags(folder=folder, client_ca=file)
    engine = engine_view(folder, settings=Settings(of_extensions=(flags,)))
    server = WebhookServer(engine, Asked(), lambda *_: None)
    endpoints = Endpoints()
    async with server.opened(Address("127.0.0.1", 0), endpoints):
        yield f"https://127.0.0.1:{endpoints.ports['webhooks']}/validate"


async def asked(url: str, folder: Path, shows: Issued | None) -> int:
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    if shows is not None:
        (folder / "client.pem").write_text(shows.key_pem + shows.pem)
        tls.load_cert_chain(folder / "client.pem")
    async with aiohttp.ClientSession() as session, session.post(url, data=b"{}", ssl=tls) as answer:
        return answer.status


async def test_api_server_with_its_certificate_is_answered(
    tmp_path: Path, authority: Issued
) -> None:
    async with webhooks(tmp_path, authority) as url:
        client = issue("kube-apiserver", authority, hosts=["kube-apiserver"])
        assert await asked(url, tmp_path, client) == NOT_ASKED_FOR


@pytest.mark.parametrize("who", ["nothing", "a certificate of its own", "another authority's"])
async def test_forged_review_is_not_answered(tmp_path: Path, authority: Issued, who: str) -> None:
    shows = {
        "nothing": None,
        "a certificate of its own": issue("kube-apiserver", hosts=["kube-apiserver"]),
        "another authority's": issue(
            "kube-apiserver", issue("the API servers' authority"), hosts=["kube-apiserver"]
        ),
    }[who]
    async with webhooks(tmp_path, authority) as url:
        with pytest.raises(aiohttp.ClientError):
            await asked(url, tmp_path, shows)


async def test_without_it_anyone_is_answered(tmp_path: Path) -> None:
    """As ever: where the API server presents no certificate, none can be asked for."""
    async with webhooks(tmp_path, None) as url:
        assert await asked(url, tmp_path, None) == NOT_ASKED_FOR


@pytest.mark.parametrize("text", [None, "", "no certificate"])
def test_authority_that_cannot_be_read_is_an_error(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "ca.pem"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match="--webhook-client-ca"):
        tls_for_webhooks(file)
