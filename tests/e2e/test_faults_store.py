"""A store that goes back in time, and lists that do: whatever is there at last is what counts."""

from __future__ import annotations

import shutil
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from aiohttp import web

from rolecall.kube import Client, Credentials
from rolecall_dev.localcluster import Cluster
from rolecall_dev.staging import FaultProxy
from tests.e2e.conftest import StartEngine
from tests.e2e.faulty_world import FAULTS, KEPT, at_rest, converged, gone_with_all, kept
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually, eventually_async
from tests.fixtures.figures import Figure

OLD_LISTS = 3
SET_BACK = "was set back to an older state"


@pytest.fixture
async def own_api(own_cluster: Cluster) -> AsyncIterator[Client]:
    """Of a cluster whose store this test may exchange."""
    async with Client(Credentials.load({"KUBECONFIG": str(own_cluster.kubeconfig)})) as client:
        yield client


@contextmanager
def store_at_rest(cluster: Cluster) -> Iterator[Path]:
    """The folder of etcd, while neither it nor the API server runs."""
    cluster.apiserver.stop()
    cluster.etcd.stop()
    yield cluster.layout.data
    cluster.etcd.start(wait=False)
    cluster.apiserver.start()


@pytest.mark.nightly
async def test_store_that_is_restored_to_an_older_state_is_followed_and_no_edit_is_missed(
    own_cluster: Cluster,
    own_api: Client,
    start_engine: StartEngine,
    tmp_path: Path,
    figure: Figure,
) -> None:
    await install(own_api, crd_for(KEPT))
    engine = start_engine(FAULTS, namespaces="default", kubeconfig=own_cluster.kubeconfig)
    for name in ("edited", "deleted", "same"):
        await own_api.create(KEPT, kept("default", name))
        await converged(own_api, "default", name, "one")
    with store_at_rest(own_cluster) as data:
        shutil.copytree(data, tmp_path / "backup")
    # A future that will not have been: two edits, a deletion, a creation.
    for word in ("two", "three"):
        await own_api.merge_patch(KEPT, "default", "edited", {"spec": {"word": word}})
        await converged(own_api, "default", "edited", word)
    await own_api.delete(KEPT, "default", "deleted")
    await gone_with_all(own_api, "default", "deleted")
    await own_api.create(KEPT, kept("default", "later"))
    await converged(own_api, "default", "later", "one")
    runs = engine.runs()
    with store_at_rest(own_cluster) as data:
        shutil.rmtree(data)
        shutil.copytree(tmp_path / "backup", data)
    began = time.monotonic()
    # Generation 3 once more: another edit than the engine knows by that number.
    for word in ("four", "five"):
        await own_api.merge_patch(KEPT, "default", "edited", {"spec": {"word": word}})
    for name, word in (("edited", "five"), ("deleted", "one"), ("same", "one")):
        await converged(own_api, "default", name, word)
    figure("converged in", time.monotonic() - began, "s")
    # Each counts as new, whatever its generation.
    eventually(
        lambda: [line for line in engine.log.splitlines() if SET_BACK in line and "Kept" in line]
    )
    eventually(lambda: engine.runs() - runs >= 3)
    at_rest(engine)
    figure("with", engine.runs() - runs, "runs for 3 CRs")
    assert engine.runs() - runs <= 6
    await gone_with_all(own_api, "default", "later")
    for name in ("edited", "deleted", "same"):
        await own_api.delete(KEPT, "default", name)
        await gone_with_all(own_api, "default", name)


class LaggingProxy(FaultProxy):
    """A way to the API server whose lists of one kind can be of an earlier time."""

    old_lists = 0  # that it still sends
    _early: web.Response | None = None

    async def _passed(self, request: web.BaseRequest, body: bytes) -> web.Response:
        if request.method != "GET" or not request.rel_url.path.endswith("/kepts"):
            return await super()._passed(request, body)
        if not self.old_lists or self._early is None:
            answer = await super()._passed(request, body)
            self._early = self._early or answer
            return answer
        self.old_lists -= 1
        early = self._early
        return web.Response(body=early.body, status=early.status, content_type="application/json")


@pytest.mark.nightly
async def test_stale_list_loses_nothing_and_starts_no_run(
    cluster: Cluster,
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    tmp_path: Path,
    figure: Figure,
) -> None:
    await install(api, crd_for(KEPT))
    async with LaggingProxy.opened(cluster.kubeconfig) as proxy:
        assert isinstance(proxy, LaggingProxy)
        kubeconfig = proxy.write_kubeconfig(tmp_path / "lagging")
        engine = start_engine(FAULTS, kubeconfig=kubeconfig)
        await eventually_async(lambda: "engine started" in engine.log)
        await api.create(KEPT, kept(namespace, "a"))  # after the list that comes again later
        await converged(api, namespace, "a", "one")
        await eventually_async(lambda: engine.log.count("run finished"), lambda ran: ran == 1)
        proxy.old_lists = OLD_LISTS
        proxy.cut_watches()
        await eventually_async(lambda: proxy.old_lists, lambda left: left == 0)
        began = time.monotonic()
        await api.merge_patch(KEPT, namespace, "a", {"spec": {"word": "two"}})
        await converged(api, namespace, "a", "two")
        figure("converged in", time.monotonic() - began, "s")
        figure("after", OLD_LISTS, "old lists")
        assert engine.log.count("run started") == 2
        assert "set back" not in engine.log
        await api.delete(KEPT, namespace, "a")
        await gone_with_all(api, namespace, "a")
