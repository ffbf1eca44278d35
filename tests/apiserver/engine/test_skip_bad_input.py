"""`skipUnchanged` where something is odd: one clear line, and runs go as ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.testing import ScriptedRun, eventually_async
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.skipping import (
    PERIOD,
    follows_secret,
    kept,
    leader,
    lines,
    shows,
    wait_for_skip,
)
from tests.e2e.kinds import CONFIG_MAP, cr
from tests.e2e.skipping import MEMCACHED, SECRET, listed, secret, write_project
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.crds import crd_for, install

CUT = Gvk("skips.rolecall.dev", "v1", "Cut")
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


@pytest.mark.nightly
@pytest.mark.usefixtures("memcached")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"binaryData": {"runs": "bm8gemlw"}}, "is garbled; the runs that it spoke of are made"),
        ({"metadata": {"labels": None}}, "is not ours and is left alone; a restart makes all runs"),
    ],
    ids=["garbled", "foreign"],
)
async def test_config_map_that_cannot_be_used_is_reported_once_and_runs_are_made(
    api: Client,
    namespace: str,
    tmp_path: Path,
    start_engine: StartEngine,
    change: Json,
    said: str,
) -> None:
    project = write_project(tmp_path / "project", reconcilePeriod=PERIOD, maxSkip="1h")
    plays = {"Memcached": shows(project)}
    await api.create(SECRET, secret(namespace, "one"))
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    engine = await start_engine(plays, *leader(namespace), project=project)
    await wait_for_skip(engine)
    await engine.stop()
    name = (await kept(api, namespace))["metadata"]["name"]
    await api.merge_patch(CONFIG_MAP, namespace, name, change)

    engine = await start_engine(plays, *leader(namespace), project=project)

    await wait_for_skip(engine)
    assert await engine.runs() > 0
    (line,) = lines(engine, said)
    assert name in line
    await follows_secret(api, namespace, "two")
    assert len(lines(engine, said)) == 1


@pytest.mark.usefixtures("memcached")
async def test_missing_right_to_keep_anything_is_reported_once_and_skips_go_on(
    api: Client,
    namespace: str,
    tmp_path: Path,
    start_engine: StartEngine,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    access = service_account_kubeconfig(RULES)
    project = write_project(tmp_path / "project", reconcilePeriod=PERIOD, maxSkip="1h")
    await api.create(SECRET, secret(namespace, "one"))
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))

    engine = await start_engine(
        {"Memcached": shows(project)}, *leader(namespace), project=project, kubeconfig=access
    )

    await wait_for_skip(engine)
    await follows_secret(api, namespace, "two")
    await engine.stop()
    (said,) = lines(engine, "which runs need not be made")
    assert "rolecall rbac" in said


async def test_kind_without_generation_is_skipped_and_followed(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine
) -> None:
    selector = {"matchLabels": {"for": "x"}}
    core = {"version": "v1", "kind": "ConfigMap", "manageStatus": False, "selector": selector}
    periods = {"reconcilePeriod": PERIOD, "maxSkip": "1h"}
    project = write_project(tmp_path / "project", **{**core, **periods, "group": ""})

    async def looks(run: ScriptedRun) -> None:
        async with run.task("look", module="ansible.builtin.debug"):
            pass

    await api.create(CONFIG_MAP, listed(namespace, "a"))
    engine = await start_engine({"ConfigMap": looks}, project=project)
    await wait_for_skip(engine)

    await api.merge_patch(CONFIG_MAP, namespace, "x-a", {"data": {"key": "two"}})

    await eventually_async(lambda: "cause=edit" in engine.log)
    await wait_for_skip(engine)
    assert await engine.runs(result="failed") == 0


async def test_kind_whose_crd_prunes_status_is_skipped_and_followed(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine
) -> None:
    await install(api, crd_for(CUT, status={"type": "object"}))
    kind = {"group": CUT.group, "version": CUT.version, "kind": CUT.kind}
    periods = {"reconcilePeriod": PERIOD, "maxSkip": "1h"}
    project = write_project(tmp_path / "project", **kind, **periods)
    await api.create(SECRET, secret(namespace, "one"))
    await api.create(CUT, cr(CUT, namespace, size=1))
    engine = await start_engine({"Cut": shows(project)}, project=project)
    await wait_for_skip(engine)
    await follows_secret(api, namespace, "two")
    said = lines(engine, "the schema of this kind dropped status fields")
    assert said and len(set(said)) == len(said) <= 2  # the first write has fewer fields
