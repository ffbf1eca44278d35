"""A play of admission reads, and whatever else it asks for never reaches the API server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.proxy.upstream import Play, Received, answer, opened_play, play_of

PODS = "/api/v1/namespaces/a/pods"
UPGRADE = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1"}


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Play]:
    async def say(request: Received) -> None:
        await answer(request, 200, {"kind": "Pod", "metadata": {"name": "x"}})

    async with opened_play(tmp_path) as opened:
        opened.upstream.say = say
        async with play_of(
            opened.proxy, opened.upstream, opened.reported, reads_only=True
        ) as asked:
            yield asked


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", PODS),
        ("GET", f"{PODS}/x/log"),
        ("POST", f"{PODS}?dryRun=All"),
        ("DELETE", f"{PODS}/x?dryRun=All"),
        ("PATCH", f"{PODS}/x?fieldManager=a&dryRun=All"),
        ("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews"),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"),
        ("POST", "/apis/authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews"),
        ("POST", "/apis/authentication.k8s.io/v1/tokenreviews"),
        ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews"),
    ],
)
async def test_request_without_a_side_effect_passes(play: Play, method: str, path: str) -> None:
    body = json.dumps({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x"}})
    data = None if method in {"GET", "DELETE"} else body  # a delete with a body does not pass
    async with play.request(method, path, data=data) as response:
        assert response.status == 200
    sent = play.upstream.received[-1]
    assert f"{sent.method} {sent.target}" == f"{method} {path}"
    assert b"ownerReferences" not in sent.body
    assert play.reported.dependents == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", PODS),
        ("PUT", f"{PODS}/x"),
        ("PATCH", f"{PODS}/x"),
        ("DELETE", f"{PODS}/x"),
        ("DELETE", PODS),
        ("PATCH", f"{PODS}/x/status"),
        ("POST", f"{PODS}?dryRun=all"),
        ("POST", f"{PODS}?dryRun=All&dryRun="),
        ("POST", f"{PODS}/x/eviction"),
        ("POST", f"{PODS}/x/exec?command=sh&dryRun=All"),
        ("GET", f"{PODS}/x/proxy/admin"),
        ("GET", "/api/v1/proxy/namespaces/a/pods/x"),
        ("POST", "/api/v1/namespaces/a/serviceaccounts/x/token?dryRun=All"),
        ("POST", "/apis/authorization.k8s.io/v1/others"),
        ("POST", "/healthz"),
    ],
)
async def test_request_with_one_is_refused(play: Play, method: str, path: str) -> None:
    async with play.request(method, path, data="{}") as response:
        status = json.loads(await response.read())
    assert response.status == status["code"] == 403
    assert status["message"].startswith("a play of admission has no side effects, and this request")
    assert play.upstream.asked == []


@pytest.mark.parametrize("subresource", ["exec", "attach", "portforward"])
async def test_stream_into_a_pod_is_refused(play: Play, subresource: str) -> None:
    async with play.request("GET", f"{PODS}/x/{subresource}", headers=UPGRADE) as response:
        assert response.status == 403
    assert play.upstream.asked == []
