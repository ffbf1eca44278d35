"""What the outside sees of a running engine: metrics, probes, and metrics that roles set."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S, EngineProcess
from tests.e2e.kinds import cr, is_successful, kind
from tests.e2e.shared import SharedEngine
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually, eventually_async
from tests.play.warm.patched_core import GONE, patched_core

COUNTING, PLAIN = kind("Counting"), kind("Plain")
SHARED_ENGINE = (BEHAVIOURS,)
KINDS = [crd_for(gvk) for gvk in (COUNTING, PLAIN)]
REVIEWS = [
    {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
    {
        "apiGroups": ["authorization.k8s.io"],
        "resources": ["subjectaccessreviews"],
        "verbs": ["create"],
    },
]


def token_of(kubeconfig: Path) -> str:
    user = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]
    return str(user["token"])


async def run_one(api: Client, namespace: str) -> None:
    await api.create(PLAIN, cr(PLAIN, namespace))
    await eventually_async(
        lambda: api.get(PLAIN, namespace, "x"), is_successful, timeout_s=PATIENCE_S
    )


async def test_metrics_have_the_known_names_and_labels(
    api: Client, namespace: str, shared_engine: SharedEngine
) -> None:
    engine = shared_engine
    await run_one(api, namespace)
    gvk = "e2e.rolecall.dev/v1, Kind=Plain"
    await eventually_async(lambda: engine.metric("controller_runtime_reconcile_time_seconds_count"))
    assert engine.metric("ansible_operator_build_info") == 1
    assert engine.metric("ansible_operator_reconcile_result", GVK=gvk, result="succeeded") == 1
    assert engine.metric("ansible_operator_reconciles_count", GVK=gvk) == 1
    assert engine.metric("ansible_operator_reconciles_sum", GVK=gvk) > 0
    labels = {"name": "x", "namespace": namespace, "group": "e2e.rolecall.dev", "kind": "Plain"}
    assert engine.metric("resource_created_at_seconds", **labels) > 1.7e9
    controller = "plain-v1-controller"
    assert engine.metric("controller_runtime_active_workers", controller=controller) == 0
    assert engine.metric("workqueue_depth", controller=controller) == 0
    assert engine.metric("rolecall_queue_wait_seconds_count", urgency="edit") >= 1
    assert engine.metric("rolecall_phase_seconds_count", GVK=gvk, phase="run") == 1
    assert engine.metric("rest_client_requests_total", code="200", method="GET") > 0
    assert engine.metric("process_resident_memory_bytes") > 0

    await api.delete(PLAIN, namespace, "x")
    await eventually_async(lambda: engine.metric("resource_created_at_seconds", **labels) == 0)


async def test_probes_answer_as_every_component_of_kubernetes(shared_engine: SharedEngine) -> None:
    engine = shared_engine
    assert engine.ask("probes", "/healthz") == (200, "ok")
    assert engine.ask("probes", "/healthz/ping") == (200, "ok")
    assert engine.ask("probes", "/readyz/readyz") == (200, "ok")
    code, text = engine.ask("probes", "/readyz?verbose&exclude=streams")
    assert code == 200
    assert text.splitlines() == [
        "[+]readyz ok",
        "[+]streams excluded: ok",
        "[+]proxy ok",
        "[+]warm ok",
        "[+]dependents ok",
        "readyz check passed",
    ]


async def test_ansible_core_without_warm_runs_is_reported_to_users(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    own_pod = {"POD_NAME": "own", "POD_NAMESPACE": namespace, "POD_UID": "uid-of-own"}
    patched = patched_core(tmp_path, *GONE)
    engine = start_engine(BEHAVIOURS, environment={**patched, **own_pod}).wait_ready()
    eventually(lambda: engine.metric("rolecall_warm_state", state="refused"), timeout_s=PATIENCE_S)
    code, text = engine.ask("probes", "/readyz?verbose")
    assert code == 200 and "[+]warm ok: every run starts ansible-playbook anew (stock): " in text
    assert "_make_tmp_path` is gone" in text and "_make_tmp_path` is gone" in engine.log

    async def warnings() -> list[Json]:
        pages = [page async for page in api.pages(Gvk("", "v1", "Event"), namespace)]
        events = [event for page in pages for event in page.items]
        return [event for event in events if event["reason"] == "NotWarm"]

    (event,) = await eventually_async(warnings, timeout_s=PATIENCE_S)
    assert event["involvedObject"]["uid"] == "uid-of-own" and event["type"] == "Warning"
    assert "_make_tmp_path` is gone" in event["message"]


async def test_roles_set_metrics_of_their_own(
    api: Client, namespace: str, shared_engine: SharedEngine
) -> None:
    engine = shared_engine
    request = {"name": "cakes", "description": "how many", "counter": {"add": 2}}
    assert engine.ask("role_metrics", "/metrics", body=json.dumps(request).encode()) == (200, "")

    await api.create(COUNTING, cr(COUNTING, namespace))
    await eventually_async(lambda: engine.metric("cakes"), lambda cakes: cakes == 3)


@pytest.mark.parametrize(("may_scrape", "code"), [(True, 200), (False, 403)])
async def test_metrics_are_for_those_whom_the_cluster_lets(
    may_scrape: bool,
    code: int,
    start_engine: StartEngine,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    kubeconfig = service_account_kubeconfig(cluster_rules=REVIEWS)
    scrapes = [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}] if may_scrape else []
    token = token_of(service_account_kubeconfig(cluster_rules=scrapes, name="scraper"))
    flags = ("--metrics-secure", "--metrics-require-rbac")
    engine = start_engine(BEHAVIOURS, *flags, kubeconfig=kubeconfig).wait_ready()

    def scrape(token: str) -> int:
        return engine.ask("metrics", "/metrics", token=token, scheme="https")[0]

    assert scrape(token) == code
    assert scrape("stranger") == 401
    assert scrape("") == 401


async def test_engine_is_not_ready_before_its_kinds_were_listed(
    own_engine_without_cluster: EngineProcess,
) -> None:
    engine = own_engine_without_cluster
    assert engine.ask("probes", "/healthz")[0] == 200
    code, text = engine.ask("probes", "/readyz")
    assert code == 500
    assert "[-]streams failed: not listed yet: e2e.rolecall.dev/v1, Kind=Plain" in text


@pytest.fixture
def own_engine_without_cluster(start_engine: StartEngine, tmp_path: Path) -> EngineProcess:
    """An engine whose API server does not answer."""
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {}}],
    }
    kubeconfig = tmp_path / "nowhere.kubeconfig"
    kubeconfig.write_text(json.dumps(config))
    return start_engine(BEHAVIOURS, kubeconfig=kubeconfig)


@pytest.mark.nightly
async def test_silent_connections_are_closed_and_block_no_other(
    start_engine: StartEngine,
) -> None:
    """Eight hundred of them lived for minutes."""
    flags = ("--page-bind-address=127.0.0.1:0", "--page-access=local")
    engine = start_engine(BEHAVIOURS, *flags).wait_ready()
    with ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
            for port in engine.ports.values()
            for _ in range(200)
        ]
        for half in silent[::2]:
            half.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        assert engine.ask("probes", "/healthz")[0] == 200
        assert engine.ask("metrics", "/metrics")[0] == 200
        assert engine.ask("page", "/login")[0] == 200
        assert engine.ask("proxy", "/api")[0] == 401
        for each in silent:
            assert _is_closed(each)


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True
