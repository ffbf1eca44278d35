"""Rights and tokens that a real cluster takes away are gone on the page within the time it checks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from rolecall.kube import Client, Credentials
from rolecall_dev.localcluster import Cluster
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.eventually import eventually_async
from tests.unit.extensions.console.control.engine import Known, key
from tests.unit.extensions.console.page.serving import Shown, place, shown

RULES = [
    {
        "apiGroups": ["demo.example.com"],
        "resources": ["websites", "websites/log"],
        "verbs": ["get", "list"],
    }
]


@pytest.fixture
async def page(cluster: Cluster, namespace: str, tmp_path: Path) -> AsyncIterator[Shown]:
    credentials = Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})
    async with Client(credentials) as client, shown(tmp_path / "root", real=client) as page:
        for where in (namespace, "elsewhere"):
            page.world.known[key("a", where)] = Known()
        yield page


@pytest.fixture
def token(service_account_kubeconfig: ServiceAccountKubeconfig) -> str:
    """Of the account `looker`, which may look at websites in the namespace of the test."""
    kubeconfig = yaml.safe_load(service_account_kubeconfig(RULES, name="looker").read_text())
    return str(kubeconfig["users"][0]["user"]["token"])


async def sees(page: Shown, cookie: str) -> str:
    """How many objects, or where he is sent."""
    page.clock.step(30)  # what was answered is asked again
    answer = await page.asks("/crs?fragment=1", cookie=cookie)
    return answer.headers.get("X-Found") or answer.headers["Location"]


@pytest.mark.nightly
async def test_session_ends_within_a_minute_after_its_account_is_deleted(
    page: Shown, token: str, cluster: Cluster, namespace: str
) -> None:
    cookie = await page.logs_in(token)
    await eventually_async(lambda: sees(page, cookie), lambda seen: seen == "1 object")
    cluster.api.delete(f"/api/v1/namespaces/{namespace}/serviceaccounts/looker")
    # The API server itself keeps for some seconds whose a token is.
    await eventually_async(lambda: sees(page, cookie), lambda seen: seen.startswith("/login"))
    assert (await page.asks("/crs", token=token)).code == 303
    assert (await page.asks("/login", {"token": token})).code == 401
    assert (await page.asks("/events", cookie=cookie)).code == 401


async def test_right_that_a_role_loses_is_gone_after_half_a_minute(
    page: Shown, token: str, cluster: Cluster, namespace: str
) -> None:
    cookie = await page.logs_in(token)
    await eventually_async(lambda: sees(page, cookie), lambda seen: seen == "1 object")
    runs = f"{place('a', namespace)}/runs/1"
    assert "no longer kept" in (await page.asks(runs, cookie=cookie)).text
    cluster.kubectl("delete", "rolebinding", "looker", "-n", namespace)
    await eventually_async(lambda: sees(page, cookie), lambda seen: seen == "0 objects")
    answer = await page.asks(runs, cookie=cookie)
    assert answer.code == 404 and "that you may see" in answer.text


async def test_unsigned_token_is_invalid(page: Shown) -> None:
    for made_up in ("guessed", "a.b.c", "x" * 16_000):
        assert (await page.asks("/login", {"token": made_up})).code == 401
