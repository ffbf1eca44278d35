"""A page that is served as the engine does it, for an engine and a cluster of a test's making."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import aiohttp
from tests.unit.extensions.console.control.engine import Known, World, key
from tests.unit.extensions.console.page.cluster import FakeClient, FakeCluster
from tests.unit.runner_warm.fakes import SteppedClock
from yarl import URL

from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.server import OperatorPage
from rolecall.kube import Client
from rolecall.listening import Address, served
from rolecall.workqueue import Key

ALL = [("list", "websites", "*"), ("get", "websites", "*"), ("get", "websites/log", "*")]
CR = "/cr/demo.example.com/v1/Website"


@dataclass
class Answer:
    code: int
    text: str
    headers: dict[str, str]
    cookie: str = ""  # as it was set, with its flags


@dataclass
class Shown:
    """The page, and what it shows."""

    world: World
    cluster: FakeCluster
    clock: SteppedClock
    page: OperatorPage
    port: int = 0
    session: aiohttp.ClientSession | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def here(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def asks(
        self,
        path: str,
        form: dict[str, str] | None = None,
        *,
        token: str = "",
        cookie: str = "",
        **headers: str,
    ) -> Answer:
        """GET, or POST of a form; names of headers have `_` for `-`."""
        async with self.opens(path, form, token=token, cookie=cookie, **headers) as answer:
            reported = dict(answer.headers)
            return Answer(
                answer.status, await answer.text(), reported, reported.get("Set-Cookie", "")
            )

    @asynccontextmanager
    async def opens(
        self,
        path: str,
        form: dict[str, str] | None = None,
        *,
        token: str = "",
        cookie: str = "",
        **headers: str,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        assert self.session is not None
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if cookie:
            sent["Cookie"] = f"rolecall_page={cookie}"
        method = "GET" if form is None else "POST"
        url = URL(f"{self.here}{path}", encoded=True)
        asking = self.session.request(method, url, data=form, headers=sent, allow_redirects=False)
        async with asking as answer:
            yield answer

    async def sends(self, raw: bytes) -> str:
        """Bytes as they are, which a client would refuse to send; the whole answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(raw.replace(b"\n", b"\r\n") + b"\r\n\r\n")
        text = (await reader.read()).decode(errors="replace")
        writer.close()
        await writer.wait_closed()
        return text

    async def logs_in(self, token: str, back: str = "/") -> str:
        """The cookie of a new session."""
        answer = await self.asks("/login", {"token": token, "back": back})
        assert answer.code == 303, answer.text
        found = re.match(r"rolecall_page=([^;]+);", answer.cookie)
        assert found is not None
        return found[1]

    async def form_token(self, **who: str) -> str:
        answer = await self.asks("/", None, **who)
        found = re.search(r'data-form-token="([^"]+)"', answer.text)
        assert found is not None, answer.text
        return found[1]

    def has(self, *names: str, namespace: str = "shop") -> None:
        """CRs that the engine knows, and the cluster has."""
        for name in names:
            self.world.known[key(name, namespace)] = Known()
            metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
            self.cluster.objects["Website", namespace, name] = {"metadata": metadata}


@asynccontextmanager
async def shown(
    root: Path,
    *,
    local_token: str = "",
    is_tls: bool = False,
    real: Client | None = None,
    world: World | None = None,
    **ports_more: Any,
) -> AsyncIterator[Shown]:
    """`real`: a cluster to ask instead of the fake one, as its administrator; and more ports."""
    world, cluster, clock = world or World(root), FakeCluster(), SteppedClock()

    def client_as(token: str) -> Client:
        if real is None:
            return cast(Client, FakeClient(cluster, token))
        return Client(real.credentials.with_token(token))

    ports = PagePorts(
        replace(world.ports, clock=clock),
        world.last_runs,
        root,
        real or cast(Client, FakeClient(cluster)),
        client_as,
        **ports_more,
    )
    page = OperatorPage(ports, local_token=local_token, is_tls=is_tls)
    jar = aiohttp.DummyCookieJar()
    listens = served(page.app(), Address("127.0.0.1", 0), what="the page")
    async with listens as port, aiohttp.ClientSession(cookie_jar=jar) as session:
        following = [asyncio.ensure_future(part()) for part in (page.run, page.run_trends)]
        yield Shown(world, cluster, clock, page, port, session)
        for each in following:
            each.cancel()
        await asyncio.wait(following)
    await asyncio.get_running_loop().shutdown_default_executor()


def place(name: str, namespace: str = "shop") -> str:
    return f"{CR}/{namespace}/{name}"


def known(*names: str, namespace: str = "shop") -> dict[Key, Any]:
    return {key(name, namespace): Known() for name in names}
