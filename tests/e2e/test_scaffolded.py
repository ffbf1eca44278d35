"""What a newcomer gets: `init`, two `create api`; both kinds work with the rights of `config/rbac`."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.cli import main
from rolecall.gvk import Gvk
from rolecall.kube import Client, NotFoundError
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, PROJECT
from tests.e2e.kinds import CONFIG_MAP, cr, is_gone, is_successful
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.crds import install
from tests.fixtures.eventually import eventually_async

GROUP = "scaffolded.example.com"
KINDS = {"Memcached": ["--finalizer"], "Redis": ["--generate-playbook"]}
_NOT_YET = (AssertionError, LookupError, NotFoundError)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache-operator"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert main(["init", "--domain", "example.com"]) == 0
    for kind, flags in KINDS.items():
        names = ["--group", "scaffolded", "--version", "v1alpha1", "--kind", kind]
        assert main(["create", "api", *names, *flags]) == 0
    return folder


@pytest.fixture
def sdk_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of the Operator SDK, with a kind that `rolecall create api` added."""
    folder = tmp_path / "memcached-operator"
    shutil.copytree(PROJECT, folder)
    monkeypatch.chdir(folder)
    names = ["--group", "cache", "--version", "v1alpha1", "--kind", "Redis"]
    assert main(["create", "api", *names]) == 0
    return folder


def rules(project: Path, *names: str) -> list[dict[str, Any]]:
    files = [project / "config" / "rbac" / f"{name}.yaml" for name in names]
    return [rule for file in files for rule in yaml.safe_load(file.read_text())["rules"]]


async def test_new_kinds_work_with_the_rights_that_they_came_with(
    api: Client,
    namespace: str,
    project: Path,
    start_engine: StartEngine,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    for crd in (project / "config" / "crd" / "bases").glob("*.yaml"):
        await install(api, yaml.safe_load(crd.read_text()))
    kubeconfig = service_account_kubeconfig(
        rules(project, "leader_election_role", "events_role", "role"),
        rules(project, "engine_role", "cluster_role"),
    )
    record = project / "requests.jsonl"
    engine = start_engine(
        project,
        "--leader-elect",
        "--leader-election-id=cache-operator",
        f"--leader-election-namespace={namespace}",
        f"--proxy-record={record}",
        kubeconfig=kubeconfig,
    ).wait_ready()
    for kind in KINDS:
        await lives(api, Gvk(GROUP, "v1alpha1", kind), namespace, project)
    assert " error " not in engine.log
    assert "not allowed to" not in engine.log
    codes = {json.loads(line)["code"] for line in record.read_text().splitlines()}
    assert codes & {200, 201}
    assert 403 not in codes


@pytest.mark.nightly
async def test_kind_that_is_added_to_a_project_of_the_sdk_works_beside_the_old_one(
    api: Client,
    namespace: str,
    sdk_project: Path,
    start_engine: StartEngine,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    for crd in (sdk_project / "config" / "crd" / "bases").glob("*.yaml"):
        await install(api, yaml.safe_load(crd.read_text()))
    kubeconfig = service_account_kubeconfig(
        rules(sdk_project, "leader_election_role"), rules(sdk_project, "role")
    )
    start_engine(sdk_project, kubeconfig=kubeconfig).wait_ready()

    old = Gvk("cache.example.com", "v1alpha1", "Memcached")
    await api.create(old, cr(old, namespace, size=1))
    await lives(api, Gvk("cache.example.com", "v1alpha1", "Redis"), namespace, sdk_project)
    await eventually_async(lambda: api.get(old, namespace, "x"), is_successful)


async def lives(api: Client, gvk: Gvk, namespace: str, project: Path) -> None:
    """Sample, edit and end of one kind."""
    kind = gvk.kind.lower()
    (sample,) = (project / "config" / "samples").glob(f"*_v1alpha1_{kind}.yaml")
    body = yaml.safe_load(sample.read_text())
    body["metadata"]["namespace"] = namespace
    name = body["metadata"]["name"]
    await api.create(gvk, body)

    async def settled() -> None:
        found = await api.get(gvk, namespace, name)
        conditions = {row["type"]: row["status"] for row in found["status"]["conditions"]}
        assert conditions["Successful"] == conditions["Ready"] == "True"

    async def message() -> str:
        found = await api.get(CONFIG_MAP, namespace, f"{name}-message")
        return str(found["data"]["message"])

    await eventually_async(settled, lambda _: True, timeout_s=PATIENCE_S, ignoring=_NOT_YET)
    assert await message() == "hello"
    edited = 'a: "b" {{ c }}\n'
    await api.merge_patch(gvk, namespace, name, {"spec": {"message": edited}})
    await eventually_async(message, lambda text: text == edited, timeout_s=PATIENCE_S)
    await api.delete(gvk, namespace, name)
    await eventually_async(lambda: is_gone(api, gvk, namespace, name), timeout_s=PATIENCE_S)
    gone = f"{name}-message"
    await eventually_async(lambda: is_gone(api, CONFIG_MAP, namespace, gone), timeout_s=PATIENCE_S)


@pytest.mark.nightly
async def test_upgrade_and_rollback_reach_custom_resources_that_live(
    api: Client, namespace: str, project: Path, start_engine: StartEngine
) -> None:
    gvk = Gvk(GROUP, "v1alpha1", "Memcached")
    for crd in (project / "config" / "crd" / "bases").glob("*.yaml"):
        await install(api, yaml.safe_load(crd.read_text()))
    body = {"apiVersion": gvk.api_version, "kind": gvk.kind, "spec": {"message": "hello"}}
    made = await api.create(gvk, {**body, "metadata": {"name": "x", "namespace": namespace}})
    template = project / "roles" / "memcached" / "templates" / "message.yaml.j2"
    first = template.read_text()
    second = first.replace("memcached_message | to_json", "memcached_message | upper | to_json")
    assert second != first

    async def message() -> str:
        found = await api.get(CONFIG_MAP, namespace, "x-message")
        return str(found["data"]["message"])

    for role, expected in ((first, "hello"), (second, "HELLO"), (first, "hello")):
        template.write_text(role)
        engine = start_engine(project).wait_ready()
        await eventually_async(
            message,
            lambda text, wanted=expected: text == wanted,  # type: ignore[misc]
            timeout_s=PATIENCE_S,
            ignoring=_NOT_YET,
        )
        assert engine.stop() == 0
    kept = await api.get(gvk, namespace, "x")
    assert kept["metadata"]["uid"] == made["metadata"]["uid"]
    conditions = {row["type"]: row["status"] for row in kept["status"]["conditions"]}
    assert conditions["Ready"] == "True"


@pytest.mark.nightly
async def test_both_versions_of_a_kind_are_served_and_reconciled_once(
    api: Client, namespace: str, project: Path, start_engine: StartEngine
) -> None:
    # A kind of its own: on the cluster that tests share, the others' CRDs are there as they were.
    for version in ("v1alpha1", "v1beta1"):
        names = ["--group", "scaffolded", "--version", version, "--kind", "Valkey"]
        assert main(["create", "api", *names]) == 0
    for crd in (project / "config" / "crd" / "bases").glob("*.yaml"):
        await install(api, yaml.safe_load(crd.read_text()))
    start_engine(project).wait_ready()
    old, new = (Gvk(GROUP, version, "Valkey") for version in ("v1alpha1", "v1beta1"))
    for gvk in (old, new):
        file = project / "config" / "samples" / f"scaffolded_{gvk.version}_valkey.yaml"
        body = yaml.safe_load(file.read_text())
        body["metadata"]["namespace"] = namespace
        await api.create(gvk, body)

    for name in ("valkey-sample", "valkey-v1beta1-sample"):
        for gvk in (old, new):  # each is there, and Ready, in both versions
            found = await eventually_async(
                partial(api.get, gvk, namespace, name), is_successful, timeout_s=PATIENCE_S
            )
            assert found["apiVersion"] == gvk.api_version
        made = await api.get(CONFIG_MAP, namespace, f"{name}-message")
        assert made["data"]["message"] == "hello"
        assert len(made["metadata"]["ownerReferences"]) == 1
