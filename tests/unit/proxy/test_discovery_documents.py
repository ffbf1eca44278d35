"""Discovery comes from memory once a run, and from the API server whenever that could be wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rolecall.proxy import discovery_documents
from tests.unit.proxy.upstream import Play, Received, answer, opened_play, play_of

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class ManualClock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)

    def monotonic(self) -> float:
        return self.seconds

    def boottime(self) -> float:
        return self.monotonic()

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds


def document(target: str) -> dict[str, Any]:
    """The answer of the API server, which names what it was asked for."""
    return {"target": target, "resources": []}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def play(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Play]:
    async with opened_play(tmp_path, clock=clock) as opened:
        opened.upstream.say = lambda request: answer(request, 200, document(request.target))
        yield opened


async def read(play: Play, path: str, **headers: str) -> int:
    """Read a document as a run of its own; how often the API server was asked so far."""
    async with play_of(play.proxy, play.upstream, play.reported) as run:
        return await read_in(run, path, **headers)


async def read_in(play: Play, path: str, **headers: str) -> int:
    async with play.request("GET", path, headers=headers) as response:
        assert (await response.json())["target"] == path
    return len(play.upstream.asked)


@pytest.mark.parametrize(
    "path", ["/version", "/api", "/apis", "/apis/apps", "/apis/apps/v1?timeout=32s"]
)
async def test_second_run_is_answered_from_memory(play: Play, path: str) -> None:
    assert [await read(play, path) for _ in range(3)] == [1, 1, 1]


async def test_second_look_within_a_run_is_live_and_renews_memory(play: Play) -> None:
    assert await read(play, "/apis") == 1
    async with play_of(play.proxy, play.upstream, play.reported) as run:
        assert [await read_in(run, "/apis") for _ in range(3)] == [1, 2, 3]


async def test_two_formats_are_two_documents(play: Play) -> None:
    assert await read(play, "/apis") == 1
    assert await read(play, "/apis", Accept="application/json;as=APIGroupDiscoveryList") == 2


@pytest.mark.parametrize(
    "headers", [{"If-None-Match": '"x"'}, {"Impersonate-User": "jane"}], ids=["etag", "other user"]
)
async def test_special_requests_are_live(play: Play, headers: dict[str, str]) -> None:
    assert [await read(play, "/apis", **headers) for _ in range(2)] == [1, 2]


@pytest.mark.parametrize("path", ["/openapi/v3", "/readyz", "/apis/apps/v1/deployments"])
async def test_other_paths_are_live(play: Play, path: str) -> None:
    before = await read(play, path)
    assert await read(play, path) > before


async def test_memory_fades(play: Play, clock: ManualClock) -> None:
    assert await read(play, "/apis") == 1
    clock.seconds += 31
    assert await read(play, "/apis") == 2


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", CRDS), ("DELETE", f"{CRDS}/boats.example.com"), ("PATCH", f"{CRDS}/x.y.z")],
)
async def test_write_of_a_crd_forgets_all_for_a_while(
    play: Play, clock: ManualClock, method: str, path: str
) -> None:
    assert await read(play, "/apis") == 1
    async with play.request(method, path, json={"kind": "CustomResourceDefinition"}):
        pass
    before = len(play.upstream.asked)
    assert [await read(play, "/apis") for _ in range(2)] == [before + 1, before + 2]
    clock.seconds += 6
    assert [await read(play, "/apis") for _ in range(2)] == [before + 3, before + 3]


async def test_engine_that_learns_of_a_crd_says_so(play: Play) -> None:
    assert await read(play, "/apis") == 1
    play.proxy.forget_kinds()
    assert await read(play, "/apis") == 2


async def test_kind_that_is_not_there_makes_forget(play: Play) -> None:
    assert await read(play, "/apis") == 1
    play.upstream.say = lambda request: answer(
        request, 404, b"404 page not found", **{"Content-Type": "text/plain"}
    )
    async with play.request("GET", "/apis/x.io/v1/namespaces/prod/things") as response:
        assert response.status == 404
    before = len(play.upstream.asked)
    play.upstream.say = lambda request: answer(request, 200, {"target": request.target})
    assert await read(play, "/apis") == before + 1


async def test_refusal_is_not_kept(play: Play) -> None:
    play.upstream.say = lambda request: answer(request, 503, {"target": request.target})
    assert [await read(play, "/apis/x.io/v1") for _ in range(2)] == [1, 2]


async def test_memory_is_bounded(play: Play) -> None:
    async def say(request: Received) -> None:
        document = {"target": request.target, "padding": "x" * 200_000}
        await answer(request, 200, document)

    play.upstream.say = say
    async with play_of(play.proxy, play.upstream, play.reported) as run:
        for number in range(30):
            async with run.request("GET", f"/apis?made-up={number}") as response:
                await response.read()
    play.upstream.say = lambda request: answer(request, 200, {"target": request.target})
    assert await read(play, "/apis?made-up=0") == 31


async def test_document_from_memory_has_the_headers_of_the_first_but_those_of_its_moment(
    play: Play,
) -> None:
    said = {
        "ETag": "x",
        "Date": "Thu, 01 Jan 1970 00:00:00 GMT",
        "Content-Type": "application/json",
    }
    body = b'{"groups": []}'
    play.upstream.say = lambda request: answer(request, 200, body, **said)
    for _ in range(2):
        async with (
            play_of(play.proxy, play.upstream, play.reported) as run,
            run.request("GET", "/apis", headers={"Accept-Encoding": "gzip"}) as response,
        ):
            assert await response.read() == body
            assert (response.headers["ETag"], response.content_type) == ("x", "application/json")
            assert response.headers.getall("Content-Length") == [str(len(body))]
    assert response.headers.getall("Date") != [said["Date"]]
    [asked] = play.upstream.received
    assert asked.headers["accept-encoding"] == "identity"


async def test_memory_ends_after_thirty_seconds_and_begins_five_after_a_change(
    play: Play, clock: ManualClock
) -> None:
    assert await read(play, "/apis") == 1
    clock.seconds += 29.9
    assert await read(play, "/apis") == 1
    clock.seconds += 0.1
    assert await read(play, "/apis") == 2
    play.proxy.forget_kinds()
    clock.seconds += 4.9
    assert [await read(play, "/apis") for _ in range(2)] == [3, 4]
    clock.seconds += 0.1
    assert [await read(play, "/apis") for _ in range(2)] == [5, 5]


@pytest.mark.parametrize("path", ["/version/x", "/api/v1/", "/apis/apps/v1/", "/apis/"])
async def test_slash_at_the_end_makes_no_other_document(play: Play, path: str) -> None:
    is_kept = path != "/version/x"
    assert [await read(play, path) for _ in range(2)] == [1, 1 if is_kept else 2]


async def test_post_to_a_path_of_discovery_is_not_answered_from_memory(play: Play) -> None:
    assert await read(play, "/apis") == 1
    async with play.request("POST", "/apis", json={}):
        pass
    assert play.upstream.asked == ["GET /apis", "POST /apis"]


@pytest.mark.parametrize(
    ("method", "path", "forgets"),
    [
        ("POST", "/apis/apiregistration.k8s.io/v1/apiservices", True),
        ("DELETE", "/apis/apiregistration.k8s.io/v1/apiservices/v1.x.io", True),
        ("DELETE", CRDS, True),
        ("GET", f"{CRDS}/boats.example.com", False),
        ("PATCH", "/apis/apps/v1/namespaces/a/deployments/d", False),
    ],
)
async def test_only_writes_of_what_makes_kinds_forget(
    play: Play, method: str, path: str, forgets: bool
) -> None:
    await read(play, "/apis")
    async with play.request(method, path, json={} if method != "GET" else None):
        pass
    before = len(play.upstream.asked)
    assert await read(play, "/apis") == before + forgets


async def test_memory_drops_what_was_kept_first(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len('{"target": "/apis?n=0", "resources": []}')
    monkeypatch.setattr(discovery_documents, "_MOST_BYTES", 2 * size)
    assert [await read(play, f"/apis?n={number}") for number in (0, 1, 0, 1)] == [1, 2, 2, 2]
    async with play_of(play.proxy, play.upstream, play.reported) as run:
        assert [await read_in(run, "/apis?n=0") for _ in range(2)] == [2, 3], "0 is the newer one"
    assert [await read(play, f"/apis?n={number}") for number in (2, 0, 2)] == [4, 4, 4]
    assert await read(play, "/apis?n=1") == 5
