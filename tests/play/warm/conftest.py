from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.play.warm.runs import KeptHosts, debug, workshop


@pytest.fixture(scope="package")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeptHosts]:
    """Hosts of all tests that ask for it: `workshop(tmp_path, kept=kept)`. One serves already."""
    folder = tmp_path_factory.mktemp("kept")
    hosts = KeptHosts(folder)

    async def start() -> None:
        async with workshop(folder, kept=hosts) as shop:
            assert (await shop.run(shop.role("fine", [debug("fine")]))).way == "warm"

    try:
        asyncio.run(start())
        yield hosts
    finally:
        hosts.end()
