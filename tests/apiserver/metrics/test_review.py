"""Who may scrape, asked of a real cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from rolecall.clock import SystemClock
from rolecall.kube import Client, Credentials
from rolecall.metrics import Reviewer
from rolecall_dev.localcluster import Cluster
from tests.fixtures.cluster import ServiceAccountKubeconfig

SCRAPE = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}


@pytest.fixture
async def reviewer(cluster: Cluster) -> AsyncIterator[Reviewer]:
    async with Client(Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})) as client:
        yield Reviewer(client, SystemClock())


def header(kubeconfig: Path) -> str:
    return f"Bearer {yaml.safe_load(kubeconfig.read_text())['users'][0]['user']['token']}"


@pytest.mark.fast
async def test_token_with_the_right_may_scrape_and_only_that_path(
    reviewer: Reviewer, service_account_kubeconfig: ServiceAccountKubeconfig
) -> None:
    scraper = header(service_account_kubeconfig(cluster_rules=[SCRAPE]))
    assert await reviewer.code_for(scraper, "/metrics") == 200
    assert await reviewer.code_for(scraper, "/other") == 403


async def test_token_without_the_right_is_known_but_refused(
    reviewer: Reviewer, service_account_kubeconfig: ServiceAccountKubeconfig
) -> None:
    assert await reviewer.code_for(header(service_account_kubeconfig()), "/metrics") == 403


@pytest.mark.parametrize("token", ["Bearer unknown", "Bearer a.b.c", "Basic YTpi", ""])
async def test_stranger_is_not_known(reviewer: Reviewer, token: str) -> None:
    assert await reviewer.code_for(token, "/metrics") == 401


async def test_reviewer_without_rights_of_its_own_rejects_all_users(
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    kubeconfig = service_account_kubeconfig()
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as client:
        reviewer = Reviewer(client, SystemClock())
        assert await reviewer.code_for("Bearer anything", "/metrics") == 500
