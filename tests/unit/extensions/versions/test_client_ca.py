"""With `--webhook-client-ca`, only a client with a certificate of that authority is answered."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from rolecall.errors import InputError
from rolecall.extensions.versions.webhooks.server import tls_for_webhooks
from rolecall.listening import Address, served
from tests.fixtures.authorities import Issued, issue


@pytest.fixture
def authority() -> Issued:
    return issue("the API servers' authority")


@asynccontextmanager
async def webhooks(folder: Path, authority: Issued | None) -> AsyncIterator[str]:
    file = None
    if authority is not None:
        file = folder / "client-ca.pem"
        file.write_text(authority.pem)
    tls = tls_for_webhooks(file)
    own = issue("webhooks", hosts=["127.0.0.1"])
    (folder / "own.pem").write_text(own.key_pem + own.pem)
    tls.load_cert_chain(folder / "own.pem")

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(text="a denial with names of another namespace")

    app = web.Application()
    app.router.add_post("/validate", answer)
    async with served(app, Address("127.0.0.1", 0), what="webhooks", tls=tls) as port:
        yield f"https://127.0.0.1:{port}/validate"


async def asked(url: str, folder: Path, shows: Issued | None) -> str:
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    if shows is not None:
        (folder / "client.pem").write_text(shows.key_pem + shows.pem)
        tls.load_cert_chain(folder / "client.pem")
    async with aiohttp.ClientSession() as session, session.post(url, data=b"{}", ssl=tls) as answer:
        return await answer.text()


async def test_api_server_with_its_certificate_is_answered(
    tmp_path: Path, authority: Issued
) -> None:
    async with webhooks(tmp_path, authority) as url:
        client = issue("kube-apiserver", authority, hosts=["kube-apiserver"])
        assert "a denial" in await asked(url, tmp_path, client)


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
        assert "a denial" in await asked(url, tmp_path, None)


@pytest.mark.parametrize("text", [None, "", "no certificate"])
def test_authority_that_cannot_be_read_is_an_error(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "ca.pem"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match="--webhook-client-ca"):
        tls_for_webhooks(file)
