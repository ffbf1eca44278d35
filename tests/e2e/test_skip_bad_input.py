"""`skipUnchanged` where something is odd: one clear line, and runs go as ever."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import EngineProcess
from tests.e2e.kinds import CONFIG_MAP, cr, install
from tests.e2e.skipping import EXPLICIT, MEMCACHED, SECRET, listed, secret, shown, write_project
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually, eventually_async

CUT = Gvk("skips.rolecall.dev", "v1", "Cut")
IN_LEASE = "--leader-election-namespace"
RULES = [
    {"apiGroups": ["cache.example.com"], "resources": ["*"], "verbs": ["*"]},
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
    {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]},
    # As one role has it that looks at ConfigMaps and makes some: not those that are kept.
    {
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": ["x-out"],
        "verbs": ["get", "patch"],
    },
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch", "create"]},
]


def flags(namespace: str) -> list[str]:
    return ["--leader-elect", "--leader-election-id=skips", f"{IN_LEASE}={namespace}"]


def lines(engine: EngineProcess, text: str) -> list[str]:
    return [line for line in engine.log.splitlines() if text in line]


def wait_for_skip(engine: EngineProcess) -> None:
    before = engine.metric("rolecall_runs_skipped_total")
    eventually(lambda: engine.metric("rolecall_runs_skipped_total") > before)


def tasks(project: Path) -> Path:
    return project / "roles" / "shows" / "tasks" / "main.yml"


async def kept(api: Client, namespace: str) -> Json:
    """The one ConfigMap that the engine made."""

    async def found() -> list[Json]:
        every = await api.list_all(CONFIG_MAP, namespace)
        return [it for it in every if "-unchanged-" in it["metadata"]["name"]]

    return (await eventually_async(found, lambda every: len(every) == 1))[0]


async def follows(api: Client, namespace: str, value: str) -> None:
    """Wait for the role to see a Secret that changed."""
    encoded = base64.b64encode(value.encode()).decode()
    await api.merge_patch(SECRET, namespace, "x-source", {"data": {"key": encoded}})

    async def source() -> str:
        return str((await shown(api, namespace)).get("source"))

    await eventually_async(source, lambda text: text == encoded)


@pytest.mark.usefixtures("memcached")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"binaryData": {"runs": "bm8gemlw"}}, "is garbled; the runs that it spoke of are made"),
        ({"metadata": {"labels": None}}, "is not ours and is left alone; a restart makes all runs"),
    ],
    ids=["garbled", "foreign"],
)
async def test_config_map_that_cannot_be_used_is_told_once_and_runs_are_made(
    api: Client,
    namespace: str,
    tmp_path: Path,
    start_engine: StartEngine,
    change: Json,
    said: str,
) -> None:
    project = write_project(tmp_path / "project")
    await api.create(SECRET, secret(namespace, "one"))
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    engine = start_engine(project, *flags(namespace), environment=EXPLICIT).wait_ready()
    wait_for_skip(engine)
    assert engine.stop() == 0
    name = (await kept(api, namespace))["metadata"]["name"]
    await api.merge_patch(CONFIG_MAP, namespace, name, change)

    engine = start_engine(project, *flags(namespace), environment=EXPLICIT).wait_ready()

    wait_for_skip(engine)
    assert engine.runs() > 0
    assert len(lines(engine, said)) == 1
    assert name in lines(engine, said)[0]
    await follows(api, namespace, "two")
    assert len(lines(engine, said)) == 1


@pytest.mark.usefixtures("memcached")
async def test_without_the_right_to_keep_anything_it_is_told_once_and_skips_go_on(
    api: Client,
    namespace: str,
    tmp_path: Path,
    start_engine: StartEngine,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    access = service_account_kubeconfig(RULES)
    project = write_project(tmp_path / "project")
    await api.create(SECRET, secret(namespace, "one"))
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))

    engine = start_engine(
        project, *flags(namespace), kubeconfig=access, environment=EXPLICIT
    ).wait_ready()

    wait_for_skip(engine)
    await follows(api, namespace, "two")
    assert engine.stop() == 0
    (told,) = lines(engine, "which runs need not be made")
    assert "rolecall rbac" in told


async def test_kind_without_generation_is_skipped_and_followed(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine
) -> None:
    selector = {"matchLabels": {"for": "x"}}
    core = {"version": "v1", "kind": "ConfigMap", "manageStatus": False, "selector": selector}
    project = write_project(tmp_path / "project", **{**core, "group": ""})
    tasks(project).write_text("- ansible.builtin.debug: {msg: looked}\n")
    await api.create(CONFIG_MAP, listed(namespace, "a"))
    engine = start_engine(project, environment=EXPLICIT).wait_ready()
    wait_for_skip(engine)
    before = engine.runs()

    await api.merge_patch(CONFIG_MAP, namespace, "x-a", {"data": {"key": "two"}})

    eventually(lambda: engine.runs() == before + 1)
    wait_for_skip(engine)
    assert engine.runs(result="failed") == 0


async def test_kind_whose_crd_prunes_status_is_skipped_and_followed(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine
) -> None:
    await install(api, crd_for(CUT, status={"type": "object"}))
    project = write_project(tmp_path / "project", group=CUT.group, version=CUT.version, kind="Cut")
    text = (
        tasks(project)
        .read_text()
        .replace("_cache_example_com_memcached", "_skips_rolecall_dev_cut")
    )
    tasks(project).write_text(text)
    await api.create(SECRET, secret(namespace, "one"))
    await api.create(CUT, cr(CUT, namespace, size=1))
    engine = start_engine(project, environment=EXPLICIT).wait_ready()
    wait_for_skip(engine)
    await follows(api, namespace, "two")
    told = lines(engine, "the schema of this kind dropped status fields")
    assert told and len(set(told)) == len(told) <= 2  # the first write has fewer fields
