"""What a borrower's requests look like on the other side."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from yarl import URL

from rolecall.kube import Credentials, Exchange, Loan, lend_session

APPS = "/apis/demo.example.com/v1/apps"


class Lender:
    """A server that notes what it is asked, and a session that was lent."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []  # path and query, who, in which form
        self.told: list[Exchange] = []
        self.base = URL()
        self.loan: Loan

    async def answer(self, request: web.Request) -> web.Response:
        headers = request.headers
        self.asked.append((request.path_qs, headers["Authorization"], headers["Accept"]))
        return web.json_response({"items": []})

    async def get(self, target: str) -> None:
        async with self.loan.session.get(self.base.join(URL(target))) as response:
            await response.read()


@pytest.fixture
async def lender(tmp_path: Path) -> AsyncIterator[Lender]:
    lender = Lender()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", lender.answer)
    async with TestServer(app) as server:
        lender.base = server.make_url("/")
        config = tmp_path / "config"
        config.write_text(
            "{current-context: c, contexts: [{name: c, context: {cluster: k, user: u}}],"
            f" users: [{{name: u, user: {{token: ours}}}}],"
            f" clusters: [{{name: k, cluster: {{server: '{lender.base}'}}}}]}}"
        )
        credentials = Credentials.load({"KUBECONFIG": str(config)})
        lender.loan = await lend_session(credentials, lender.told.append, most_connections=2)
        yield lender
        await lender.loan.close()


async def test_borrower_is_us_and_each_answer_is_told(lender: Lender) -> None:
    await lender.get("/apis")
    assert lender.asked == [("/apis", "Bearer ours", "*/*")]
    assert lender.told == [Exchange("/apis", is_watch=False, code=200)]


async def test_list_comes_empty_since_the_lender_lists_by_itself(lender: Lender) -> None:
    await lender.get(f"{APPS}?limit=1")
    assert lender.asked[0][0] == f"{APPS}?limit=1&fieldSelector=metadata.name%3DNONE"


async def test_watch_brings_metadata_of_everything(lender: Lender) -> None:
    await lender.get(f"{APPS}?watch=true&resourceVersion=7")
    target, _, form = lender.asked[0]
    assert target == f"{APPS}?watch=true&resourceVersion=7"
    assert form.startswith("application/json;as=PartialObjectMetadata;")
    assert lender.told == [Exchange(APPS, is_watch=True, code=200)]
