"""An extension server that is down: what it serves is unknown to a run, and not absent.

Whatever the client keeps of discovery from before: nothing, what was there, or what was missing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator

import pytest

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials, NotFoundError
from rolecall.record import touched_by
from rolecall_dev.localcluster import Cluster
from tests.apiserver.proxy.conftest import Run, RunningProxy
from tests.e2e.engine import ROOT
from tests.fixtures.crds import CRD, crd_for, create_kind
from tests.fixtures.eventually import eventually_async

API_SERVICE = Gvk("apiregistration.k8s.io", "v1", "APIService")
# As `k8s_info` does it: with the discoverer of its collection, and a missing kind for an empty answer.
_INFO = """
import sys
from kubernetes import config, dynamic
from ansible_collections.kubernetes.core.plugins.module_utils.client.discovery import LazyDiscoverer
try:
    login = config.new_client_from_config()
    api = dynamic.DynamicClient(login, cache_file=sys.argv[2], discoverer=LazyDiscoverer)
    kind = api.resources.get(api_version=sys.argv[1] + "/v1", kind="Widget")
    print(len(kind.get().items))
except Exception as error:
    print(type(error).__name__)
"""


class Widgets:
    """A group that the API server serves itself, until an extension server that is down has it."""

    def __init__(self, api: Client, group: str) -> None:
        self._api, self.group = api, group

    async def begin(self) -> None:
        widget = Gvk(self.group, "v1", "Widget")
        await create_kind(self._api, crd_for(widget, has_status=False))

    async def go_down(self) -> None:
        with contextlib.suppress(NotFoundError):
            await self._api.delete(CRD, "", f"widgets.{self.group}")
        body: Json = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService"}
        body["metadata"] = {"name": f"v1.{self.group}"}
        body["spec"] = {"group": self.group, "version": "v1", "insecureSkipTLSVerify": True}
        body["spec"] |= {"groupPriorityMinimum": 100, "versionPriority": 100}
        body["spec"]["service"] = {"namespace": "default", "name": "none"}
        await eventually_async(lambda: self._tried(body))
        await eventually_async(self._is_down)

    async def _tried(self, body: Json) -> bool:
        try:
            await self._api.create(API_SERVICE, body)
        except ClusterError:  # that of the CRD is still there
            return False
        return True

    async def _is_down(self) -> bool:
        try:
            await self._api.read_path(f"/apis/{self.group}/v1")
        except ClusterError as failure:
            return getattr(failure, "code", 0) == 503
        return False


@pytest.fixture
async def widgets(cluster: Cluster, namespace: str) -> AsyncIterator[Widgets]:
    async with Client(Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})) as api:
        made = Widgets(api, f"{namespace}.example.com")
        yield made
        with contextlib.suppress(NotFoundError):
            await api.delete(CRD, "", f"widgets.{made.group}")
        with contextlib.suppress(NotFoundError):
            await api.delete(API_SERVICE, "", f"v1.{made.group}")


async def look(run: Run, program: str, group: str) -> str:
    """Read all widgets with a program that is quiet about a kind that is missing."""
    if program == "kubectl":
        ended = await run.kubectl("get", f"widgets.{group}", "-A", "-o", "name")
        return ended.stdout + ended.stderr
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _INFO, group, str(run.scratch / "cache.json")),
        stdout=asyncio.subprocess.PIPE,
        env={
            "PATH": os.environ["PATH"],
            "KUBECONFIG": str(run.kubeconfig),
            "PYTHONPATH": str(ROOT / ".collections"),
        },
    )
    out, _ = await process.communicate()
    return out.decode()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("program", "was_up"),
    [
        ("kubectl", False),
        pytest.param("kubectl", True, marks=pytest.mark.nightly),
        pytest.param("k8s_info", False, marks=pytest.mark.nightly),
        pytest.param("k8s_info", True, marks=pytest.mark.nightly),
    ],
)
async def test_kind_of_a_server_that_is_down_is_unknown_and_not_absent(
    running_proxy: RunningProxy, cr: Json, widgets: Widgets, program: str, was_up: bool
) -> None:
    if was_up:
        await widgets.begin()
        async with running_proxy.run_for(cr) as run:
            await look(run, program, widgets.group)
            assert touched_by(run.record).unknown == ""
    await widgets.go_down()
    for _ in range(3):  # with what was kept while it was served, and while it was not
        async with running_proxy.run_for(cr) as run:
            said = await look(run, program, widgets.group)
            assert touched_by(run.record).unknown, said
