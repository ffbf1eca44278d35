"""What a role read and does not own brings its CR back when it changes."""

from __future__ import annotations

import asyncio
import time

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall_dev.testing import eventually_async
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.reading import at_rest, causes, vault
from tests.e2e.kinds import CONFIG_MAP, cr, is_successful
from tests.e2e.wanted_kinds import SECRET, VAULT, create_input, eventually_data, made, settled
from tests.fixtures.cluster import ServiceAccountKubeconfig

pytestmark = pytest.mark.usefixtures("wanted")
PLAYS = {"Vault": vault}
RULES = [
    {"apiGroups": ["wanted.rolecall.dev"], "resources": ["*"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["configmaps", "events"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]},
]
ROLE = Gvk("rbac.authorization.k8s.io", "v1", "Role")


async def test_changed_secret_brings_its_reader_within_a_second(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    await create_input(api, namespace, "password", kind="Secret")
    engine = await start_engine(PLAYS)
    await made(api, VAULT, namespace, secret="password")
    runs = await at_rest(engine)
    changed = time.monotonic()
    await api.merge_patch(SECRET, namespace, "password", {"data": {"word": "bmV3"}})
    await eventually_data(api, namespace, "x-read", lambda data: "bmV3" in data["secret"])
    assert time.monotonic() - changed < 5  # a second on an idle machine
    assert causes(engine)[-1] == "change of Secret password that the role reads"
    assert await at_rest(engine) == runs + 1


async def test_secret_that_comes_and_goes_brings_a_run_that_failed_for_want_of_it(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine(PLAYS)
    await api.create(VAULT, cr(VAULT, namespace, secret="late", needs=True))
    await eventually_async(lambda: engine.runs(result="failed"), lambda count: count >= 1)
    await create_input(api, namespace, "late", kind="Secret")
    await settled(api, VAULT, namespace)
    runs = await engine.runs(result="failed")
    await api.delete(SECRET, namespace, "late")
    await eventually_async(lambda: engine.runs(result="failed"), lambda count: count > runs)
    assert "deletion of Secret late that the role reads" in causes(engine)


async def test_list_that_gains_and_loses_an_item_brings_its_reader(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    await create_input(api, namespace, "one", team="blue")
    engine = await start_engine(PLAYS)
    await made(api, VAULT, namespace, selector="team=blue")
    await eventually_data(api, namespace, "x-read", lambda data: data["listed"] == "one")
    await create_input(api, namespace, "other", team="green")
    await create_input(api, namespace, "two", team="blue")
    await eventually_data(api, namespace, "x-read", lambda data: data["listed"] == "one two")
    green = {"metadata": {"labels": {"team": "green"}}}
    await api.merge_patch(CONFIG_MAP, namespace, "one", green)
    await eventually_data(api, namespace, "x-read", lambda data: data["listed"] == "two")
    await api.delete(CONFIG_MAP, namespace, "two")
    await eventually_data(api, namespace, "x-read", lambda data: data["listed"] == "")
    said = " ".join(causes(engine))
    assert "creation of ConfigMap two in a list that the role reads" in said
    assert "ConfigMap other" not in said


async def test_what_a_lookup_read_is_watched_and_own_writes_bring_nothing(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    """The role raises a number in what it reads: a run for each would never end."""
    await create_input(api, namespace, "number")
    engine = await start_engine(PLAYS)
    await made(api, VAULT, namespace, lookup_of="number", writes="number")
    runs = await at_rest(engine)
    await api.merge_patch(CONFIG_MAP, namespace, "number", {"data": {"count": "n41"}})
    await eventually_data(api, namespace, "number", lambda data: data["count"] == "n42")
    assert await at_rest(engine) == runs + 1


async def test_write_of_one_cr_brings_another_that_reads_it(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    await create_input(api, namespace, "number")
    engine = await start_engine(PLAYS)
    await made(api, VAULT, namespace, "reader", lookup_of="number")
    await made(api, VAULT, namespace, "writer", writes="number")
    await eventually_data(api, namespace, "reader-read", lambda data: "count" in data["looked"])
    assert "change of ConfigMap number that the role reads" in causes(engine)


async def test_right_that_is_missing_is_reported_once_and_found_when_it_is_granted(
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    await create_input(api, namespace, "password", kind="Secret")
    kubeconfig = service_account_kubeconfig(RULES)
    engine = await start_engine(PLAYS, kubeconfig=kubeconfig)
    await made(api, VAULT, namespace, secret="password")
    warning = "cannot watch what plays read"
    await eventually_async(lambda: engine.log.count(warning) == 1)
    rule = '{apiGroups: [""], resources: [secrets], verbs: [list, watch]}'
    assert rule.replace('"', '\\"') in engine.log  # as a text in quotes
    granted = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]}
    await api.merge_patch(ROLE, namespace, "engine", {"rules": [*RULES, granted]})

    async def is_brought() -> bool:
        """Changed again and again, as a stream that begins late may compare with the last one."""
        await api.merge_patch(SECRET, namespace, "password", {"data": {"word": "bmV3"}})
        return "Secret password" in " ".join(causes(engine))

    await eventually_async(is_brought)
    assert engine.log.count(warning) == 1


@pytest.mark.nightly
async def test_many_readers_of_one_secret_share_a_stream(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    await create_input(api, namespace, "password", kind="Secret")
    engine = await start_engine(PLAYS)
    names = [f"reader-{number}" for number in range(10)]
    async with asyncio.TaskGroup() as tasks:
        for name in names:
            tasks.create_task(api.create(VAULT, cr(VAULT, namespace, name, secret="password")))
    await eventually_async(
        lambda: api.list_all(VAULT, namespace), lambda found: all(map(is_successful, found))
    )
    watches = 'rolecall_api_call_seconds_count{resource="secrets",verb="list"}'
    assert (await engine.ask("metrics", "/metrics"))[1].count(watches) == 1
    assert (
        await engine.metric("rolecall_api_call_seconds_count", resource="secrets", verb="list") == 1
    )
    await api.merge_patch(SECRET, namespace, "password", {"data": {"word": "bmV3"}})
    for name in names:
        await eventually_data(api, namespace, f"{name}-read", lambda data: "bmV3" in data["secret"])
