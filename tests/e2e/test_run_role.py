"""`rolecall run-role` against a cluster: by name, by file, and who owns what."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import BEHAVIOURS, ROOT
from tests.e2e.kinds import CONFIG_MAP, cr, kind
from tests.fixtures.crds import crd_for, install

MAKER = kind("Maker")
Ended = subprocess.CompletedProcess[str]


@pytest.fixture
async def maker(api: Client) -> Gvk:
    await install(api, crd_for(MAKER))
    return MAKER


class Typed:
    """A person's shell in the folder of the project."""

    def __init__(self, cluster: Cluster, namespace: str, scratch: Path) -> None:
        self._namespace, self._scratch = namespace, scratch
        self._environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(scratch),
            "TMPDIR": str(scratch),
            "KUBECONFIG": str(cluster.kubeconfig),
            "ANSIBLE_GATHERING": "explicit",
            "ANSIBLE_COLLECTIONS_PATH": f"{ROOT / '.collections'}",
        }

    def __call__(self, *words: str) -> Ended:
        command = [sys.executable, "-m", "rolecall", "run-role", "-n", self._namespace, *words]
        return subprocess.run(
            command,
            cwd=BEHAVIOURS,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def file(self, manifest: Json) -> str:
        path = self._scratch / "cr.json"
        path.write_text(json.dumps(manifest))
        return str(path)


@pytest.fixture
def typed(cluster: Cluster, namespace: str, tmp_path: Path) -> Typed:
    return Typed(cluster, namespace, tmp_path)


async def owners_of_what_was_made(api: Client, namespace: str) -> list[str]:
    made = await api.get(CONFIG_MAP, namespace, "x-made")
    return [row["uid"] for row in made["metadata"].get("ownerReferences", [])]


@pytest.mark.nightly
async def test_cr_of_the_cluster_is_run_by_its_name_and_owns_what_is_made(
    api: Client, maker: Gvk, namespace: str, typed: Typed, cluster: Cluster
) -> None:
    there = await api.create(maker, cr(maker, namespace, word="seen"))
    ended = typed("maker/x")
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.splitlines()[0].startswith("cluster: context "), ended.stderr
    made = await api.get(CONFIG_MAP, namespace, "x-made")
    assert made["data"] == {"word": "seen"}
    assert await owners_of_what_was_made(api, namespace) == [there["metadata"]["uid"]]


async def test_cr_that_is_not_there_names_those_that_are(
    api: Client, maker: Gvk, namespace: str, typed: Typed
) -> None:
    await api.create(maker, cr(maker, namespace))
    ended = typed("Maker/y")
    assert ended.returncode == 2
    assert f"`Maker/y -n {namespace}` is not in the cluster" in ended.stderr
    assert f"`Maker/x -n {namespace}`" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("is_there", [False, True])
async def test_cr_of_a_file_that_its_crd_does_not_take_is_not_played(
    api: Client, namespace: str, typed: Typed, tmp_path: Path, is_there: bool
) -> None:
    bounded = kind("Bounded")
    crd = crd_for(bounded)
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    limit = {"replicas": {"type": "integer", "maximum": 20}}
    spec["spec"] = {**spec["spec"], "properties": limit}
    await install(api, crd)
    if is_there:
        await api.create(bounded, cr(bounded, namespace, replicas=20))
    role = str(BEHAVIOURS / "roles/maker")
    watch = {"group": bounded.group, "version": "v1", "kind": "Bounded", "role": role}
    (tmp_path / "watches.yaml").write_text(json.dumps([watch]))
    watches = f"--watches-file={tmp_path / 'watches.yaml'}"
    ended = typed(watches, "--cr", typed.file(cr(bounded, namespace, replicas=99)))
    assert ended.returncode not in {0, 1}, ended.stderr
    assert "less than or equal to 20" in ended.stderr
    with pytest.raises(NotFoundError):
        await api.get(CONFIG_MAP, namespace, "x-made")


@pytest.mark.nightly
@pytest.mark.usefixtures("maker")
async def test_sample_without_a_stored_cr_is_reported_to_own_nothing(
    api: Client, namespace: str, typed: Typed
) -> None:
    ended = typed("--cr", typed.file(cr(MAKER, namespace)))
    assert ended.returncode == 0, ended.stderr
    assert "nothing will own what this run makes" in ended.stderr
    assert f"Maker {namespace}/x is not in the cluster; `--create`" in ended.stderr
    assert await owners_of_what_was_made(api, namespace) == []


async def test_create_applies_the_file_first_so_that_it_owns(
    api: Client, maker: Gvk, namespace: str, typed: Typed
) -> None:
    file = typed.file(cr(maker, namespace, word="new"))
    first, second = typed("--create", "--cr", file), typed("--create", "--cr", file)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert f"created Maker/x -n {namespace}" in first.stderr
    assert "created" not in second.stderr
    uid = (await api.get(maker, namespace, "x"))["metadata"]["uid"]
    assert await owners_of_what_was_made(api, namespace) == [uid]


@pytest.mark.nightly
async def test_object_without_an_owner_is_named_and_adopted_when_asked(
    api: Client, maker: Gvk, namespace: str, typed: Typed
) -> None:
    there = await api.create(maker, cr(maker, namespace))
    body = {"metadata": {"name": "x-made", "namespace": namespace}, "data": {"word": "old"}}
    await api.create(CONFIG_MAP, {"apiVersion": "v1", "kind": "ConfigMap", **body})
    ended = typed("maker/x")
    assert "objects that have no owner: ConfigMap x-made" in ended.stderr
    assert await owners_of_what_was_made(api, namespace) == []
    ended = typed("maker/x", "--adopt")
    assert "no owner" not in ended.stderr
    assert await owners_of_what_was_made(api, namespace) == [there["metadata"]["uid"]]


async def test_what_would_be_created_is_not_by_a_check(
    api: Client, maker: Gvk, namespace: str, typed: Typed
) -> None:
    ended = typed("--create", "--check", "--cr", typed.file(cr(maker, namespace)))
    assert ended.returncode == 2
    with pytest.raises(NotFoundError):
        await api.get(maker, namespace, "x")
