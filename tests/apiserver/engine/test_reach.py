"""Which objects are reached: namespaces, kinds that come late, kinds that may not be watched."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError
from rolecall_dev.testing import ScriptedRun, eventually_async
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.reading import config_map
from tests.e2e.engine import BEHAVIOURS
from tests.e2e.kinds import CONFIG_MAP, GROUP, cr, is_successful, kind
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.crds import CRD, crd_for, install

MAKER, PLAIN = kind("Maker"), kind("Plain")
NAMESPACE = Gvk("", "v1", "Namespace")


async def plain(run: ScriptedRun) -> None:
    async with run.task("look", module="ansible.builtin.debug"):
        pass


async def maker(run: ScriptedRun) -> None:
    async with run.task("make it") as task:
        word = run.spec.get("word", "nothing")
        await task.present(config_map(run, f"{run.name}-made", {"word": word}))


PLAYS = {
    "Maker": maker,
    **{name: plain for name in ("Plain", "Belated", "Brief")},
}


@pytest.fixture
async def kinds(api: Client) -> None:
    for gvk in (MAKER, PLAIN):
        await install(api, crd_for(gvk))


@pytest.fixture
async def other_namespace(api: Client, namespace: str) -> AsyncIterator[str]:
    name = f"{namespace[:55]}-other"
    await api.create(NAMESPACE, {"metadata": {"name": name}})
    yield name
    await api.delete(NAMESPACE, "", name)


async def came_to(
    api: Client, gvk: Gvk, namespace: str, name: str, is_right: Callable[[Json], Any]
) -> Json:
    return await eventually_async(
        lambda: api.get(gvk, namespace, name),
        is_right,
        ignoring=(NotFoundError, LookupError),
    )


async def drift_is_repaired(api: Client, namespace: str) -> None:
    """A dependent that is deleted and one that is edited come back as they were."""
    await api.create(MAKER, cr(MAKER, namespace, word="right"))
    await came_to(api, MAKER, namespace, "x", is_successful)
    await api.delete(CONFIG_MAP, namespace, "x-made")
    await came_to(api, CONFIG_MAP, namespace, "x-made", bool)
    await api.merge_patch(CONFIG_MAP, namespace, "x-made", {"data": {"word": "wrong"}})
    await came_to(
        api, CONFIG_MAP, namespace, "x-made", lambda made: made["data"]["word"] == "right"
    )


@pytest.mark.nightly
@pytest.mark.usefixtures("kinds")
async def test_only_the_named_namespace_is_watched(
    api: Client, namespace: str, other_namespace: str, start_engine: StartEngine
) -> None:
    await start_engine(PLAYS, project=BEHAVIOURS)
    await api.create(PLAIN, cr(PLAIN, other_namespace))
    await drift_is_repaired(api, namespace)
    assert "status" not in await api.get(PLAIN, other_namespace, "x")


@pytest.mark.usefixtures("kinds")
async def test_drift_is_repaired_in_each_of_several_namespaces(
    api: Client, namespace: str, other_namespace: str, start_engine: StartEngine
) -> None:
    environment = {"WATCH_NAMESPACE": f"{namespace}, {other_namespace}"}
    await start_engine(PLAYS, project=BEHAVIOURS, environment=environment)
    await drift_is_repaired(api, namespace)
    await drift_is_repaired(api, other_namespace)


@pytest.mark.usefixtures("kinds")
async def test_drift_is_repaired_where_all_namespaces_are_watched(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    environment = {"WATCH_NAMESPACE": ""}
    await start_engine(PLAYS, project=BEHAVIOURS, environment=environment)
    await drift_is_repaired(api, namespace)


async def test_kind_whose_crd_comes_late_is_reconciled_then(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    late = Gvk(f"{namespace}.rolecall.dev", "v1", "Belated")
    (tmp_path / "watches.yaml").write_text(
        f"- {{group: {late.group}, version: v1, kind: Belated, role: {BEHAVIOURS}/roles/plain}}\n"
    )
    engine = await start_engine(PLAYS, project=tmp_path)
    await eventually_async(lambda: "the cluster does not serve kind `Belated`" in engine.log)

    await install(api, crd_for(late))
    try:
        await api.create(late, cr(late, namespace))
        await came_to(api, late, namespace, "x", is_successful)
    finally:
        await api.delete(CRD, "", f"belateds.{late.group}")


@pytest.mark.nightly
async def test_kind_that_is_removed_is_reported_once_and_reconciled_when_it_comes_back(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    brief = Gvk(f"{namespace}.rolecall.dev", "v1", "Brief")
    (tmp_path / "watches.yaml").write_text(
        f"- {{group: {brief.group}, version: v1, kind: Brief, role: {BEHAVIOURS}/roles/plain}}\n"
    )
    await install(api, crd_for(brief))
    engine = await start_engine(PLAYS, project=tmp_path)
    for name in ("x", "y", "z"):
        await api.create(brief, cr(brief, namespace, name))
        await came_to(api, brief, namespace, name, is_successful)
    await api.delete(CRD, "", f"briefs.{brief.group}")
    await eventually_async(lambda: "the cluster does not serve kind `Brief`" in engine.log)
    await install(api, crd_for(brief))
    try:
        await api.create(brief, cr(brief, namespace))
        await came_to(api, brief, namespace, "x", is_successful)
    finally:
        await api.delete(CRD, "", f"briefs.{brief.group}")
    assert "reconcile failed" not in engine.log


@pytest.mark.usefixtures("kinds")
async def test_kind_that_may_not_be_watched_is_named_with_the_rule_and_others_go_on(
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    resources = ["plains", "plains/status", "plains/finalizers"]
    kubeconfig = service_account_kubeconfig(
        [{"apiGroups": [GROUP], "resources": resources, "verbs": ["*"]}]
    )
    engine = await start_engine(PLAYS, project=BEHAVIOURS, kubeconfig=kubeconfig)
    await api.create(PLAIN, cr(PLAIN, namespace))
    await came_to(api, PLAIN, namespace, "x", is_successful)
    assert f"`makers.{GROUP}`" in engine.log
    assert "to a role in config/rbac" in engine.log
