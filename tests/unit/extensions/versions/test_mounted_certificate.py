"""A mounted certificate is served, and the next one without a restart."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from rolecall.errors import InputError
from rolecall.extensions.versions.webhooks.certificates import MountedCertificate
from rolecall.listening import Address, served
from tests.fixtures.authorities import Issued, issue

HOST = "127.0.0.1"


@pytest.fixture
def tls() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)


@pytest.fixture
async def port(tls: ssl.SSLContext) -> AsyncIterator[int]:
    async with served(web.Application(), Address(HOST, 0), what="webhooks", tls=tls) as port:
        yield port


def mount(folder: Path, name: str, pair: Issued, key: str = "") -> None:
    """As a kubelet does: the files are links, and a folder takes the place of another."""
    (new := folder / name).mkdir()
    (new / "tls.crt").write_text(pair.pem)
    (new / "tls.key").write_text(key or pair.key_pem)
    link = folder / f"{name}.link"
    link.symlink_to(name)
    link.rename(folder / "..data")
    for file in ("tls.crt", "tls.key"):
        if not (folder / file).is_symlink():
            (folder / file).symlink_to(f"..data/{file}")


async def shown(port: int, authority: Issued) -> int:
    """The serial number of the served certificate, for a client that trusts the authority."""
    trusting = ssl.create_default_context(cadata=authority.pem)
    # Python 3.13 asks for key identifiers; the API server does not, and neither have all tools.
    trusting.verify_flags &= ~ssl.VERIFY_X509_STRICT
    _, writer = await asyncio.open_connection(HOST, port, ssl=trusting)
    raw = writer.get_extra_info("ssl_object").getpeercert()
    writer.close()
    await writer.wait_closed()
    return int(raw["serialNumber"], 16)


async def test_next_certificate_is_shown_to_new_connections(
    tmp_path: Path, tls: ssl.SSLContext, port: int
) -> None:
    authority = issue("authority")
    first, second = (issue("server", authority, hosts=[HOST]) for _ in range(2))
    mounted = MountedCertificate(tmp_path)
    assert not mounted.is_there
    for name, pair in (("first", first), ("second", second)):
        mount(tmp_path, name, pair)
        assert mounted.is_there
        await mounted.refresh(tls)
        assert await shown(port, authority) == pair.certificate.serial_number


@pytest.mark.parametrize("what", ["another key", "encrypted", "nonsense"])
async def test_files_that_do_not_fit_are_named_and_the_last_ones_stay(
    tmp_path: Path, tls: ssl.SSLContext, port: int, what: str
) -> None:
    authority = issue("authority")
    pair = issue("server", authority, hosts=[HOST])
    mounted = MountedCertificate(tmp_path)
    mount(tmp_path, "good", pair)
    await mounted.refresh(tls)
    following = issue("server", authority, hosts=[HOST])
    keys = {
        "another key": issue("other").key_pem,
        "encrypted": following.encrypted_key_pem,
        "nonsense": "nonsense",
    }
    mount(tmp_path, "bad", following, keys[what])
    with pytest.raises(
        InputError, match=r"could not serve webhooks with `.*tls.crt` and `tls.key`"
    ):
        await mounted.refresh(tls)
    assert await shown(port, authority) == pair.certificate.serial_number
