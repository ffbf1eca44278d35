"""What `rolecall page` sends to a pod of a real cluster: no login to a stranger's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rolecall.errors import ClusterError
from rolecall.extensions.console.page.access import PAGE_AUDIENCE
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials, UnauthorizedError, token_for, user_of
from rolecall.remote_engine import EnginePod, Operator, choose_pod, find_operator, verify_pod
from rolecall_dev.localcluster import Cluster
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually_async
from tests.unit.extensions.console.control.engine import SITE, Known, key
from tests.unit.extensions.console.page.serving import Shown, place, shown

POD, CONFIG_MAP = Gvk("", "v1", "Pod"), Gvk("", "v1", "ConfigMap")
DEPLOYMENT = Gvk("apps", "v1", "Deployment")
ALL = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
LOOKS = [
    {
        "apiGroups": ["demo.example.com"],
        "resources": ["websites", "websites/log"],
        "verbs": ["get", "list"],
    }
]


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    async with Client(Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})) as client:
        yield client


def pod_of_a_neighbour(namespace: str, **metadata: object) -> Json:
    """As a user who may create pods in some namespace makes it."""
    labels = {"rolecall.dev/engine": "nice-tool"}
    container = {"name": "manager", "image": "none", "args": ["--page-bind-address=:8090"]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "nice-tool-0",
            "namespace": namespace,
            "labels": labels,
            **metadata,
        },
        "spec": {"containers": [container]},
    }


async def make_ready(client: Client, namespace: str) -> None:
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    await client.merge_patch(
        POD, namespace, "nice-tool-0", {"status": status}, subresource="status"
    )


def page(kubeconfig: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rolecall", "page", "--no-open", *words],
        env={**os.environ, "KUBECONFIG": str(kubeconfig), "ROLECALL_ARTIFACTS_DIR": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


async def test_login_does_not_go_to_a_pod_that_a_neighbour_labelled(
    client: Client, namespace: str, service_account_kubeconfig: ServiceAccountKubeconfig
) -> None:
    kubeconfig = service_account_kubeconfig(ALL, name="admin")
    await client.create(POD, pod_of_a_neighbour(namespace))
    await make_ready(client, namespace)
    said = page(kubeconfig, "--operator", namespace + "/nice-tool")
    assert (said.returncode, "is not controlled by a Deployment" in said.stderr) == (3, True)
    said = page(kubeconfig, "--operator", "nice-tool")
    assert (said.returncode, "would send your login" in said.stderr) == (2, True)


async def test_pod_that_the_deployment_of_the_operator_made_is_verified(
    client: Client, namespace: str
) -> None:
    labels = {"rolecall.dev/engine": "nice-tool"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "manager", "image": "none"}]},
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "nice-tool", "namespace": namespace},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    await client.create(DEPLOYMENT, deployment)

    async def chosen() -> tuple[Operator, EnginePod]:
        operator = await find_operator(client, f"{namespace}/nice-tool")
        return operator, (await choose_pod(client, operator)).pod

    operator, pod = await eventually_async(chosen, ignoring=(ClusterError,))
    assert await verify_pod(client, operator, pod) == "default"


async def test_token_for_the_page_is_good_for_nothing_else(
    client: Client, cluster: Cluster, namespace: str
) -> None:
    cluster.kubectl("create", "serviceaccount", "looker", "-n", namespace)
    token = await token_for(client, namespace, "looker", 3600, PAGE_AUDIENCE)
    credentials = Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)}).with_token(token)
    async with Client(credentials) as stolen:
        with pytest.raises(UnauthorizedError):
            await stolen.list_all(CONFIG_MAP, namespace)
    assert await user_of(client, token) is None
    user = await user_of(client, token, PAGE_AUDIENCE)
    assert user is not None and user.name == f"system:serviceaccount:{namespace}:looker"
    usual = await token_for(client, namespace, "looker", 3600)
    assert await user_of(client, usual, PAGE_AUDIENCE) is None


@pytest.fixture
async def website(client: Client, cluster: Cluster, namespace: str) -> None:
    await install(client, crd_for(SITE))
    body = {"apiVersion": SITE.api_version, "kind": SITE.kind}
    for where in (namespace, "default"):
        await client.create(SITE, {**body, "metadata": {"name": "a", "namespace": where}})


async def test_reader_with_such_a_token_sees_what_its_account_may_see(
    cluster: Cluster,
    namespace: str,
    tmp_path: Path,
    client: Client,
    website: None,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    service_account_kubeconfig(LOOKS, name="looker")
    token = await token_for(client, namespace, "looker", 3600, PAGE_AUDIENCE)
    async with shown(tmp_path / "root", real=client) as page:
        for where in (namespace, "default"):
            page.world.known[key("a", where)] = Known()
        assert (await page.asks(place("a", namespace), token=token)).code == 200
        assert (await page.asks(place("a", "default"), token=token)).code == 404
        assert (await page.asks("/crs?fragment=1", token=token)).headers["X-Found"] == "1 object"
        found = await page.asks("/crs?label=a%3Db", token=token)
        assert "may not list" in found.text or "0 objects" in found.text
        pause = f"{place('a', namespace)}/pause"
        reported = await _form_token(page, token)
        assert (await page.asks(pause, {"form_token": reported}, token=token)).code == 403
    cluster.kubectl("delete", "websites.demo.example.com", "a", "-n", "default")


async def _form_token(page: Shown, token: str) -> str:
    return await page.form_token(token=token)
