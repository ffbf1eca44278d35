"""Migrations of stored objects on a real API server, judged by what etcd holds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rolecall.extensions.versions.migration.rewrite import MigrationCounts
from rolecall.extensions.versions.migration.stored import read_stored, version_hash
from rolecall.extensions.versions.migration.whole_kind import MigrationError, Pace, migrate, tried
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials, GoneError, Page
from rolecall_dev.localcluster import Cluster
from tests.apiserver.migration.stored_objects import TwoVersions, two_versions
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.crds import CRD
from tests.fixtures.eventually import eventually_async

POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = POLICIES.replace("policies", "policybindings")


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    async with Client(Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})) as client:
        yield client


@pytest.fixture
async def kind(client: Client, cluster: Cluster) -> AsyncIterator[TwoVersions]:
    async with two_versions(client, cluster) as kind:
        yield kind


class Killed(BaseException):
    """As a process that ends between two pages."""


async def test_objects_are_stored_anew_once_and_the_old_version_may_go(
    client: Client, kind: TwoVersions, namespace: str
) -> None:
    """Killed between two pages and begun anew."""
    await kind.fill(namespace, 600)
    await kind.store_at("v2")
    assert await kind.stored_versions() == ["v1", "v2"]
    assert set(kind.in_etcd().values()) == {"v1"}
    seen: list[int] = []

    def kill(counts: MigrationCounts) -> None:
        seen.append(counts.seen)
        raise Killed

    with pytest.raises(Killed):
        await migrate(client, kind.crd, Pace(on_progress=kill))
    stored = list(kind.in_etcd().values())
    assert (seen, stored.count("v1"), stored.count("v2")) == ([500], 100, 500)
    assert await kind.stored_versions() == ["v1", "v2"]

    before = {each["metadata"]["name"]: each for each in await client.list_all(kind.at("v2"))}
    done = await migrate(client, kind.crd, Pace())
    assert (done.counts.seen, done.counts.rewritten, done.dropped) == (600, 100, ("v1",))
    assert set(kind.in_etcd().values()) == {"v2"}
    assert await kind.stored_versions() == ["v2"]
    for each in await client.list_all(kind.at("v2")):
        was = before[each["metadata"]["name"]]
        assert each["spec"] == was["spec"]
        assert each["metadata"]["generation"] == was["metadata"]["generation"]
        if int(each["metadata"]["name"].rpartition("-")[2]) < 500:
            assert each["metadata"]["resourceVersion"] == was["metadata"]["resourceVersion"]
    assert (await migrate(client, kind.crd, Pace())).counts.seen == 0  # nothing to do
    versions = (await client.get(CRD, "", kind.crd))["spec"]["versions"]
    await client.merge_patch(CRD, "", kind.crd, {"spec": {"versions": versions[1:]}})


async def test_what_is_refused_is_named_and_keeps_the_old_version(
    client: Client, cluster: Cluster, kind: TwoVersions, namespace: str
) -> None:
    await kind.fill(namespace, 3)
    await kind.store_at("v2")
    await _refuse(client, cluster, kind, "book-0001")
    try:
        trial = await tried(client, kind.crd, Pace())
        assert [each.name for each in trial.counts.refused] == ["book-0001"]
        assert set(kind.in_etcd().values()) == {"v1"}
        with pytest.raises(MigrationError) as caught:
            await migrate(client, kind.crd, Pace())
    finally:
        cluster.api.delete(f"{POLICIES}/{kind.crd}")
        cluster.api.delete(f"{BINDINGS}/{kind.crd}")
    assert [str(each) for each in caught.value.refused] == [
        str(each) for each in trial.counts.refused
    ]
    assert "this book is chained to its shelf" in caught.value.refused[0].why
    assert "so `v1` must stay in the CRD" in caught.value.message
    assert sorted(kind.in_etcd().values()) == ["v1", "v2", "v2"]
    assert await kind.stored_versions() == ["v1", "v2"]


@pytest.mark.nightly
@pytest.mark.parametrize("back", [False, True], ids=["for good", "and back"])
async def test_a_storage_version_changed_in_midway_is_noticed(
    client: Client, kind: TwoVersions, namespace: str, *, back: bool
) -> None:
    """For good: nothing is dropped. And back: the objects are gone over once more."""
    await kind.fill(namespace, 2)
    await kind.store_at("v2")
    changes = Midway(kind, ["v1", "v2"] if back else ["v1"], namespace)
    changes.client = client
    midway = MidwayClient(Credentials.load({"KUBECONFIG": str(kind.cluster.kubeconfig)}))
    midway.changes = changes
    async with midway:
        if not back:
            with pytest.raises(MigrationError, match="was changed from `v2` to `v1`"):
                await migrate(midway, kind.crd, Pace())
            assert await kind.stored_versions() == ["v1", "v2"]
            return
        done = await migrate(midway, kind.crd, Pace())
    assert done.counts.seen == 2
    assert set(kind.in_etcd().values()) == {"v2"}
    assert await kind.stored_versions() == ["v2"]


@pytest.mark.nightly
async def test_rest_of_a_list_that_is_gone_is_listed_anew(
    client: Client, kind: TwoVersions, namespace: str
) -> None:
    await kind.fill(namespace, 3)
    await kind.store_at("v2")
    async with GoneOnce(Credentials.load({"KUBECONFIG": str(kind.cluster.kubeconfig)})) as once:
        done = await migrate(once, kind.crd, Pace())
    assert (done.counts.seen, done.counts.rewritten) == (3, 3)
    assert await kind.stored_versions() == ["v2"]


async def test_rights_that_are_missing_are_named_before_anything_is_written(
    kind: TwoVersions, namespace: str, service_account_kubeconfig: ServiceAccountKubeconfig
) -> None:
    await kind.fill(namespace, 1)
    await kind.store_at("v2")
    rules = [
        {"apiGroups": [kind.group], "resources": ["books"], "verbs": ["list"]},
        {"apiGroups": [CRD.group], "resources": ["customresourcedefinitions"], "verbs": ["get"]},
    ]
    kubeconfig: Path = service_account_kubeconfig([], rules)
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as client:
        with pytest.raises(MigrationError) as caught:
            await migrate(client, kind.crd, Pace())
    assert caught.value.hint.splitlines()[1:] == [
        f'  - {{apiGroups: ["{kind.group}"], resources: [books], verbs: [patch]}}',
        '  - {apiGroups: ["apiextensions.k8s.io"], resources: [customresourcedefinitions/status],'
        f" resourceNames: [{kind.crd}], verbs: [patch]}}",
    ]
    assert set(kind.in_etcd().values()) == {"v1"}


class Midway:
    """What another client does to the CRD and an object while a pass is under way; once."""

    client: Client

    def __init__(self, kind: TwoVersions, versions: list[str], namespace: str) -> None:
        self.kind, self.versions, self.namespace = kind, versions, namespace

    async def happen(self) -> None:
        versions, self.versions = self.versions, []
        for version in versions:
            await self.kind.store_at(version)
            await eventually_async(lambda: _reports(self.client, self.kind, version))  # noqa: B023
            if version == "v1":
                await eventually_async(self._stored_at_v1)

    async def _stored_at_v1(self) -> bool:
        """Write an object; discovery names the version a moment before writes go to it."""
        patch = {"spec": {"later": True}}
        await self.client.merge_patch(self.kind.at("v1"), self.namespace, "book-0000", patch)
        return self.kind.in_etcd()[f"{self.namespace}/book-0000"] == "v1"


class MidwayClient(Client):
    """Lets it happen right behind the first page."""

    changes: Midway

    async def pages(self, *arguments: Any, **options: Any) -> AsyncIterator[Page]:
        async for page in super().pages(*arguments, **options):
            yield page
            await self.changes.happen()


class GoneOnce(Client):
    """Its first list ends after two objects, as after a compaction of etcd."""

    is_over = False

    async def pages(self, *arguments: Any, **options: Any) -> AsyncIterator[Page]:
        async for page in super().pages(*arguments, **options):
            if self.is_over:
                yield page
                continue
            self.is_over = True
            yield Page(page.items[:2], page.resource_version, "more")
            raise GoneError("too old", code=410, target=None)  # type: ignore[arg-type]


async def _reports(client: Client, kind: TwoVersions, version: str) -> bool:
    document: Json = await client.read_path(f"/apis/{kind.group}/v1")
    rows = [row for row in document["resources"] if row["name"] == "books"]
    return bool(rows[0]["storageVersionHash"] == version_hash(kind.at(version)))


async def _refuse(client: Client, cluster: Cluster, kind: TwoVersions, name: str) -> None:
    """A policy against writes of one object, once it really holds."""
    rule = {
        "apiGroups": [kind.group],
        "apiVersions": ["*"],
        "operations": ["UPDATE"],
        "resources": ["books"],
    }
    said = {"expression": f"object.metadata.name != '{name}'"}
    said["message"] = "this book is chained to its shelf"
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [said]}
    cluster.api.create(POLICIES, {"metadata": {"name": kind.crd}, "spec": spec})
    binding = {"policyName": kind.crd, "validationActions": ["Deny"]}
    cluster.api.create(f"{BINDINGS}", {"metadata": {"name": kind.crd}, "spec": binding})
    stored = await read_stored(client, kind.crd)

    async def holds() -> bool:
        trial = await tried(client, stored.crd, Pace())
        return bool(trial.counts.refused)

    await eventually_async(holds)
