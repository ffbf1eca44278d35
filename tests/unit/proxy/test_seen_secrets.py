"""What a run was answered with about Secrets is known before the play has the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from rolecall.proxy.request_info import parse_request_info
from rolecall.proxy.seen_secrets import SeenSecrets
from rolecall.runner.secrets import MASK, Redactor
from tests.unit.proxy.crs import app, watch
from tests.unit.proxy.upstream import Play, answer, opened_play

SECRETS = "/api/v1/namespaces/prod/secrets"


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Play]:
    async with opened_play(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("method", "path", "said"),
    [
        ("GET", f"{SECRETS}/x", {"kind": "Secret", "data": {"p": "YQ=="}}),
        ("GET", SECRETS, {"kind": "SecretList", "items": [{"data": {"p": "YQ=="}}]}),
        ("PATCH", f"{SECRETS}/x", {"kind": "Secret", "data": {"p": "YQ=="}}),
        ("GET", SECRETS, {"items": [{"data": {"p": "YQ=="}}], "filler": "x" * 1_900_000}),
    ],
)
async def test_secret_is_known_when_the_play_has_the_answer(
    play: Play, method: str, path: str, said: dict[str, Any]
) -> None:
    play.upstream.say = lambda request: answer(request, 200, said)
    async with play.proxy.issue_access("other", app(), watch()) as access:
        url = play.url.with_path("/")
        user, password = _login(access.kubeconfig)
        headers = {"Accept-Encoding": "gzip"}
        headers["Authorization"] = aiohttp.encode_basic_auth(user, password)
        address = f"http://{url.host}:{url.port}{path}"
        async with play.session.request(method, address, headers=headers) as response:
            assert response.status == 200
        (seen,) = access.seen_secrets()
        assert (seen["kind"], seen["data"]) == ("Secret", {"p": "YQ=="})
        assert not access.seen_secrets()
    assert play.upstream.received[-1].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"{SECRETS}/x", b"no JSON"),
        (f"{SECRETS}/x", b"[1, 2]"),
        (f"{SECRETS}/x", None),
        (f"{SECRETS}/x", b"[" * 100_000),
        ("/api/v1/namespaces/prod/configmaps/x", b'{"kind": "Secret", "data": {"a": "YQ=="}}'),
        ("/apis/x.y/v1/namespaces/prod/secrets/x", b'{"kind": "Secret", "data": {"a": "YQ=="}}'),
    ],
)
def test_answer_that_shows_none_teaches_nothing(path: str, body: bytes | None) -> None:
    seen = SeenSecrets()
    seen.note(parse_request_info("GET", path), body)
    assert not any("data" in secret for secret in seen.take())


def test_token_that_a_play_asked_for_is_a_secret() -> None:
    """As `kubectl create token` does; the token need not look like one."""
    seen = SeenSecrets()
    path = "/api/v1/namespaces/prod/serviceaccounts/robot/token"
    seen.note(parse_request_info("POST", path), b'{"status": {"token": "opaque-0123456789"}}')
    redactor = Redactor()
    for secret in seen.take():
        redactor.learn(secret)
    assert redactor.text("opaque-0123456789") == MASK
    seen.note(parse_request_info("POST", path), b'{"status": []}')
    seen.note(parse_request_info("POST", path.replace("/v1/", "/v2/")), None)
    assert all(secret["stringData"]["token"] is None for secret in seen.take())


def _login(kubeconfig: Path) -> tuple[str, str]:
    user = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]
    return user["username"], user["password"]
