"""A plan by the page of a real engine: the diff shows the change, and nothing is written."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials
from rolecall.reconcile import PAUSED_ANNOTATION
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import EngineProcess
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually, eventually_async

BAKERY = Gvk("plans.rolecall.dev", "v1", "Bakery")
CONFIG_MAP, SECRET = Gvk("", "v1", "ConfigMap"), Gvk("", "v1", "Secret")
WATCHES = """\
- group: plans.rolecall.dev
  version: v1
  kind: Bakery
  role: bakery
  reconcilePeriod: 0s
"""
TASKS = """\
- name: write what is for sale
  kubernetes.core.k8s:
    definition:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: sale, namespace: "{{ ansible_operator_meta.namespace }}"}
      data: {goods: "{{ goods }}"}
- name: write the recipe
  kubernetes.core.k8s:
    definition:
      apiVersion: v1
      kind: Secret
      metadata: {name: recipe, namespace: "{{ ansible_operator_meta.namespace }}"}
      stringData: {recipe: "secret-of-{{ goods }}"}
"""
OBJECTS = ((CONFIG_MAP, "sale"), (SECRET, "recipe"))
CR = f"/cr/{BAKERY.group}/v1/Bakery"


class Visitor:
    """A reader with the address that the engine printed."""

    def __init__(self, engine: EngineProcess, session: aiohttp.ClientSession) -> None:
        self._session, self._here = session, f"http://127.0.0.1:{engine.ports['page']}"
        said = r"page to look at.*address=\"?http://[^/]+(/\?token=[\w-]+)"
        self.entrance = str(eventually(lambda: re.findall(said, engine.log))[0])

    async def sees(self, path: str) -> str:
        async with self._session.get(self._here + path) as answer:
            text = await answer.text()
            assert answer.status == 200, text
            return text

    async def asks_for(self, path: str, page: str) -> str:
        found = re.search(r'data-form-token="([^"]+)"', page)
        assert found is not None
        form = {"form_token": found[1]}
        async with self._session.post(self._here + path, data=form) as answer:
            return await answer.text()


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    async with Client(Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})) as client:
        await install(client, crd_for(BAKERY))
        yield client


@pytest.fixture
def engine(
    client: Client, cluster: Cluster, namespace: str, tmp_path: Path
) -> Iterator[EngineProcess]:
    project = tmp_path / "project"
    (project / "roles" / "bakery" / "tasks").mkdir(parents=True)
    (project / "watches.yaml").write_text(WATCHES)
    (project / "roles" / "bakery" / "tasks" / "main.yml").write_text(TASKS)
    engine = EngineProcess(
        project,
        tmp_path / "engine",
        kubeconfig=cluster.kubeconfig,
        flags=("--page-bind-address=127.0.0.1:0", "--page-access=local"),
        environment={"WATCH_NAMESPACE": namespace},
    )
    yield engine.wait_ready()
    engine.clean_up()


async def test_plan_shows_the_change_and_writes_nothing(
    engine: EngineProcess, client: Client, namespace: str
) -> None:
    metadata = {"name": "corner", "namespace": namespace}
    bakery = {"apiVersion": BAKERY.api_version, "kind": BAKERY.kind, "metadata": metadata}
    await client.create(BAKERY, {**bakery, "spec": {"goods": "bread"}})
    await eventually_async(lambda: client.get(SECRET, namespace, "recipe"), ignoring=(Exception,))
    eventually(lambda: engine.runs("Bakery") == 1)
    pause = {"metadata": {"annotations": {PAUSED_ANNOTATION: "true"}}}
    await client.merge_patch(BAKERY, namespace, "corner", {**pause, "spec": {"goods": "cake"}})
    before = [await client.get(gvk, namespace, name) for gvk, name in OBJECTS]

    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        visitor = Visitor(engine, session)
        await visitor.sees(visitor.entrance)
        here = f"{CR}/{namespace}/corner"
        page = await visitor.sees(f"{here}/plan")
        assert 'id="result"' not in page and "Plan a run now" in page
        await visitor.asks_for(f"{here}/plan", page)
        page = await eventually_async(
            lambda: visitor.sees(f"{here}/plan"), lambda page: "data-awaits" not in page
        )
        text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
        assert "2 to change" in text
        assert "- .data.goods: bread" in text and "+ .data.goods: cake" in text
        assert "roles/bakery/tasks/main.yml:1 `write what is for sale`" in text
        assert "+ .data.recipe: &lt;hidden, another value&gt;" in text
        assert not re.search("secret-of|c2VjcmV0", page)

        yaml = await visitor.sees(f"{here}/objects/core/v1/configmaps/{namespace}/sale")
        assert "goods: bread" in yaml
        tasks = re.findall(r'href="([^"]+/task-ids/[^"]+)"', yaml)
        assert "write what is for sale" in await visitor.sees(tasks[0])
        assert "***" in await visitor.sees(f"{here}/objects/core/v1/Secret/{namespace}/recipe")

    assert [await client.get(gvk, namespace, name) for gvk, name in OBJECTS] == before
    assert engine.runs("Bakery") == 1
    kept = engine.artifacts.glob(f"{BAKERY.group}/v1/Bakery/*/corner/artifacts/*")
    assert len([each for each in kept if not each.is_symlink()]) == 1
