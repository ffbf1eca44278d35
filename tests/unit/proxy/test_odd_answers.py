"""What a play gets when something that is not an API server answers in its place."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rolecall.kube import Credentials, CredentialsError
from tests.unit.proxy.upstream import Play, Received, answer, opened_play, play_of

HTML = b"<html>Please log in, dear hunter2</html>"
MAP = "/api/v1/namespaces/shop/configmaps/made"
MANIFEST = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made"}}
APPLY = {"Content-Type": "application/apply-patch+yaml"}


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Play]:
    async with opened_play(tmp_path) as opened:
        yield opened


def reads_say(play: Play, code: int, body: bytes, **headers: str) -> None:
    """GETs are answered like this, writes as they should be."""

    async def say(request: Received) -> None:
        if request.method == "GET":
            await answer(request, code, body, **headers)
        else:
            await answer(request, 200, MANIFEST)

    play.upstream.say = say


async def apply(play: Play, method: str = "PATCH") -> tuple[int, Any]:
    headers = APPLY if method == "PATCH" else {"Content-Type": "application/json"}
    body = json.dumps(MANIFEST).encode()
    target = f"{MAP}?fieldManager=f"
    async with play.request(method, target, data=body, headers=headers) as response:
        text = await response.read()
        is_json = response.content_type == "application/json"
        return response.status, json.loads(text) if is_json else text


def writes(play: Play) -> list[str]:
    return [one.method for one in play.upstream.received if one.method != "GET"]


ODD = {
    "a page": (HTML, {"Content-Type": "text/html"}),
    "a page that calls itself JSON": (HTML, {}),
    "nothing": (b"", {}),
    "half an object": (json.dumps(MANIFEST).encode()[:-5], {}),
    "a list": (b"[]", {}),
    "another's words": (b'{"error": "session expired"}', {}),
    "metadata that is a text": (b'{"metadata": "x"}', {}),
    "compressed": (gzip.compress(json.dumps(MANIFEST).encode()), {"Content-Encoding": "gzip"}),
    "too deep": (b"[" * 200_000, {}),
}


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
@pytest.mark.parametrize(("body", "headers"), ODD.values(), ids=ODD)
async def test_object_is_not_written_where_its_owners_cannot_be_read(
    play: Play, body: bytes, headers: dict[str, str], method: str
) -> None:
    reads_say(play, 200, body, **headers)
    code, said = await apply(play, method)
    assert (code, said["reason"]) == (502, "ServiceUnavailable")
    assert "answered 200 with" in said["message"]
    assert "hunter2" not in said["message"]
    assert writes(play) == []


async def test_not_found_of_a_gateway_does_not_mean_that_there_is_no_object(play: Play) -> None:
    reads_say(play, 404, HTML, **{"Content-Type": "text/html"})
    code, said = await apply(play)
    assert (code, said) == (404, HTML)
    assert writes(play) == []


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (HTML, "text/html"),
        (HTML, "application/json"),
        (b"", "application/json"),
        (b"[]", "application/json"),
        (b'{"kind": "APIGroupList", "groups": [', "application/json"),
        (HTML, "application/vnd.kubernetes.protobuf"),
    ],
)
async def test_odd_discovery_reaches_the_run_that_asked_and_no_other(
    play: Play, body: bytes, kind: str
) -> None:
    said = [(body, kind), (b'{"kind": "APIGroupList", "groups": []}', "application/json")]

    async def say(request: Received) -> None:
        text, content_type = said.pop(0)
        await answer(request, 200, text, **{"Content-Type": content_type})

    play.upstream.say = say
    async with play.request("GET", "/apis") as response:
        assert await response.read() == body
    async with (
        play_of(play.proxy, play.upstream, play.reported) as other,
        other.request("GET", "/apis") as response,
    ):
        assert await response.json() == {"kind": "APIGroupList", "groups": []}


async def test_right_that_the_engine_lacks_to_read_discovery_is_named(play: Play) -> None:
    said = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "sealed"}

    async def say(request: Received) -> None:
        await answer(request, 403, said)

    play.upstream.say = say
    target = "/apis/shop.example.com/v1/namespaces/shop/orders"
    async with play.request("POST", target, json={"metadata": {"name": "made"}}) as response:
        reported = await response.json()
    assert (response.status, reported["reason"]) == (403, "Forbidden")
    assert reported["message"] == (
        "the request was not sent to the API server: could not get `/apis/shop.example.com/v1`: sealed;"
        ' add `- {nonResourceURLs: ["/apis/shop.example.com/v1"], verbs: [get]}` to a role'
        " in config/rbac, or let `rolecall rbac` write it"
    )
    assert writes(play) == []


async def test_login_that_fails_is_reported_with_its_way_out(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: Credentials) -> None:
        raise CredentialsError("the credential plugin `aws` did not end", hint="install `aws`")

    monkeypatch.setattr(Credentials, "current", fail)
    async with play.request("GET", MAP) as response:
        reported = await response.json()
    assert response.status == 502
    assert reported["message"] == (
        "the request was not sent to the API server: the credential plugin `aws` did not end;"
        " install `aws`"
    )


async def test_bug_of_the_proxy_is_reported_as_a_status_and_logged(
    play: Play, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def bug(*_: Any) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr("rolecall.proxy.routes.Routes.answer", bug)
    async with play.request("GET", MAP) as response:
        said = await response.json()
    assert (response.status, said["reason"]) == (500, "InternalError")
    assert "ZeroDivisionError" in caplog.text
