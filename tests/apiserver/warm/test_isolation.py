"""No run reaches the API server as another: clients and credentials are of one run alone."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall_dev.localcluster import Cluster
from tests.apiserver.warm.conftest import Bench
from tests.fixtures.crds import crd_for
from tests.play.warm.runs import Tasks

OpenBench = Callable[..., AbstractAsyncContextManager[Bench]]

MAKES: Tasks = [
    {
        "kubernetes.core.k8s": {
            "definition": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "name": "made-{{ ansible_operator_meta.name }}",
                    "namespace": "{{ ansible_operator_meta.namespace }}",
                },
                "data": {"round": "{{ round }}"},
            }
        }
    }
]
LOOKS: Tasks = [
    {
        "kubernetes.core.k8s_info": {
            "kind": "ConfigMap",
            "name": "made-{{ ansible_operator_meta.name }}",
            "namespace": "{{ ansible_operator_meta.namespace }}",
        },
        "register": "found",
    },
    {"ansible.builtin.assert": {"that": "found.resources | length == 1"}},
]
# Everything of the Kubernetes client and the collection that one process keeps for the next task.
SPOILS = """
import os, sys
import kubernetes
from ansible_collections.kubernetes.core.plugins.module_utils.k8s import client as core_client
from ansible_collections.kubernetes.core.plugins.module_utils.client import discovery
def broken(*args, **kwargs): raise RuntimeError("spoiled by another run")
def spoil(text):
    wrong = kubernetes.client.Configuration(host="http://127.0.0.1:1")
    wrong.api_key["authorization"] = "Bearer of-the-spoiler"
    kubernetes.client.Configuration.set_default(wrong)
    kubernetes.client.ApiClient.call_api = broken
    kubernetes.config.load_kube_config = broken
    core_client.get_api_client = broken
    core_client._pool["digest"] = broken
    discovery.Discoverer.get = broken
    os.environ.update(K8S_AUTH_HOST="http://127.0.0.1:1", K8S_AUTH_API_KEY="of-the-spoiler")
    return text
class FilterModule:
    def filters(self): return dict(spoil=spoil)
"""


@pytest.mark.nightly
async def test_each_run_writes_in_the_name_of_its_own_cr(
    open_bench: OpenBench, cluster: Cluster, namespace: str
) -> None:
    async with open_bench() as bench:
        role = bench.shop.role("makes", [*MAKES, *LOOKS])
        crs = [await bench.case(f"n{number}") for number in range(5)]
        for round_ in ("1", "2"):
            runs = [bench.run(role, {**cr, "spec": {**cr["spec"], "round": round_}}) for cr in crs]
            for result in await asyncio.gather(*runs):
                assert (result.way, result.succeeded) == ("warm", True), result.failures
        for cr in crs:
            made = _config_map(cluster, namespace, f"made-{cr['metadata']['name']}")
            (owner,) = made["metadata"]["ownerReferences"]
            assert owner["uid"] == cr["metadata"]["uid"]
            assert made["data"] == {"round": "2"}


@pytest.mark.nightly
async def test_client_that_one_run_spoiled_serves_no_other(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        cr = await bench.case("one", round="1")
        spoils: Tasks = [
            *MAKES,
            {"ansible.builtin.debug": {"msg": "{{ 'x' | spoil }}"}},
            {**LOOKS[0], "ignore_errors": True},
            {"ansible.builtin.assert": {"that": "found is failed"}},
        ]
        spoiler = bench.shop.role("spoils", spoils, filter_plugins__mine_py=SPOILS)
        looker = bench.shop.role("looks", LOOKS)
        for _ in range(2):
            for role in (spoiler, looker):
                result = await bench.run(role, cr)
                assert (result.way, result.succeeded) == ("warm", True), result.failures


async def test_credentials_of_a_run_are_nowhere_once_it_ended(
    open_bench: OpenBench, cluster: Cluster, tmp_path: Path
) -> None:
    async with open_bench() as bench:
        shows = {
            "ansible.builtin.copy": {
                "content": "{{ lookup('file', lookup('env', 'K8S_AUTH_KUBECONFIG')) }}",
                "dest": "{{ work }}/kept-by-the-test",
            },
            "no_log": True,
        }
        admin = {**LOOKS[0]["kubernetes.core.k8s_info"], "kubeconfig": str(cluster.kubeconfig)}
        tasks: Tasks = [shows, *MAKES, *LOOKS, {"kubernetes.core.k8s_info": admin}]
        cr = await bench.case("one", round="1", work=str(tmp_path))
        role = bench.shop.role("makes", tasks)
        before = _files_below(tmp_path)
        result = await bench.run(role, cr)
        assert (result.way, result.succeeded) == ("warm", True), result.failures
        kept = tmp_path / "kept-by-the-test"
        password = kept.read_text().split('password: "')[1].split('"')[0]
        kept.unlink()
        made = _files_below(tmp_path) - before
        assert not [path for path in made if "root" not in path.parts and "home" not in path.parts]
        assert not [path for path in made if password in path.read_text(errors="replace")]
        host = Path(f"/proc/{bench.shop.host_pid}")
        for text in ("environ", "cmdline"):
            assert password.encode() not in (host / text).read_bytes()


@pytest.mark.nightly
async def test_discovery_that_the_host_keeps_learns_new_kinds(
    open_bench: OpenBench, cluster: Cluster
) -> None:
    async with open_bench() as bench:
        cr = await bench.case("one", round="1")
        first = await bench.run(bench.shop.role("makes", MAKES), cr)
        group = f"{bench.namespace}.example.com"
        crd = crd_for(Gvk(group, "v1", "Thing"))
        cluster.api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
        definition = {
            "apiVersion": f"{group}/v1",
            "kind": "Thing",
            "metadata": {"name": "x", "namespace": bench.namespace},
        }
        uses: dict[str, Any] = {
            "kubernetes.core.k8s": {"definition": definition},
            "register": "used",
            "until": "used is succeeded",  # until the API server serves it
            "retries": 50,
            "delay": 0.1,
        }
        second = await bench.run(bench.shop.role("uses", [uses]), cr)
        assert [first.succeeded, second.succeeded] == [True, True], second.failures
        assert [first.way, second.way] == ["warm", "warm"]


@pytest.mark.nightly
async def test_discovery_is_read_once_for_all_crs(open_bench: OpenBench) -> None:
    async with open_bench() as bench:
        role = bench.shop.role("makes", MAKES)
        for name in ("one", "two"):
            assert (await bench.run(role, await bench.case(name, round="1"))).way == "warm"
        assert len(_discovered()) == 1


def _discovered() -> list[Path]:
    """Files in which hosts keep what a server offers."""
    hosts = Path(tempfile.gettempdir()).glob("rolecall-host-*")
    return [path for host in hosts for path in host.glob(f"{'[0-9a-f]' * 32}.json")]


def _config_map(cluster: Cluster, namespace: str, name: str) -> Any:
    return cluster.api.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")


def _files_below(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}
