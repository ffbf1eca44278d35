"""A play acts as the engine, and as someone else only where the operator allows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.settings import ProxySettings
from tests.unit.proxy.upstream import opened_play

MAPS = "/api/v1/namespaces/prod/configmaps"
HEADERS = [
    {"Impersonate-User": "jane"},
    {"impersonate-group": "system:masters"},
    {"IMPERSONATE-UID": "1"},
    {"Impersonate-Extra-scopes": "x"},
    {"Impersonate-": ""},
]
ASKED = [
    ("GET", f"{MAPS}/x"),
    ("GET", "/version"),
    ("GET", "/apis"),
    ("GET", f"{MAPS}?watch=true"),
    ("POST", MAPS),
    ("PUT", f"{MAPS}/x"),
    ("PATCH", f"{MAPS}/x"),
    ("DELETE", f"{MAPS}/x"),
    ("POST", "/api/v1/namespaces/prod/pods/x/exec"),
]


@pytest.mark.parametrize("headers", HEADERS, ids=lambda found: next(iter(found)))
async def test_impersonation_is_refused_and_reaches_no_api_server(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    async with opened_play(tmp_path, allows_impersonation=False) as play:
        for method, path in ASKED:
            upgrade = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1"} if "exec" in path else {}
            async with play.request(method, path, headers={**headers, **upgrade}) as response:
                said = await response.text()
            assert response.status == 403
            assert "`--allow-impersonation`" in said and "impersonate_user" in said
        assert play.upstream.received == []
        async with play.request("GET", f"{MAPS}/x"):
            assert play.upstream.received


def test_impersonation_is_refused_by_default() -> None:
    assert ProxySettings().allows_impersonation is False
