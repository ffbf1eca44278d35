"""Tokens of ServiceAccounts, on a real API server."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials, NotFoundError, token_for
from rolecall_dev.localcluster import Cluster

SELF = Gvk("authentication.k8s.io", "v1", "SelfSubjectReview")


@pytest.mark.fast
async def test_token_is_the_accounts(cluster: Cluster, namespace: str) -> None:
    cluster.kubectl("create", "serviceaccount", "looker", "-n", namespace)
    credentials = Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})
    async with Client(credentials) as client:
        token = await token_for(client, namespace, "looker", 3600)
    body = {"apiVersion": SELF.api_version, "kind": SELF.kind, "metadata": {}}
    async with Client(credentials.with_token(token)) as client:
        review = await client.create(SELF, body)
    who = f"system:serviceaccount:{namespace}:looker"
    assert review["status"]["userInfo"]["username"] == who


async def test_account_that_is_not_there_is_named(cluster: Cluster, namespace: str) -> None:
    credentials = Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})
    async with Client(credentials) as client:
        with pytest.raises(NotFoundError, match="looker"):
            await token_for(client, namespace, "looker", 3600)
