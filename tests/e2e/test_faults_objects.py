"""What others do to the objects under the engine: namespaces that go, webhooks that are down."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.settings import QueueSettings
from rolecall_dev.localcluster import Cluster
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import EngineProcess
from tests.e2e.faulty_world import (
    FAULTS,
    FINALIZER,
    KEPT,
    at_rest,
    converged,
    doubled_runs,
    ended_runs,
    finalizer_runs,
    gone_with_all,
    kept,
)
from tests.e2e.kinds import CONFIG_MAP, is_gone
from tests.e2e.shared import SharedEngine
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually, eventually_async
from tests.fixtures.figures import Figure

EVENT = Gvk("", "v1", "Event")
NAMESPACE = Gvk("", "v1", "Namespace")
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


SHARED_ENGINE = (FAULTS,)
KINDS = [crd_for(KEPT)]


@pytest.fixture(autouse=True)
def kind_is_there(kinds_of_module: None) -> None:
    pass


def errors_of(engine: EngineProcess) -> float:
    """How many reconciles ended with an error."""
    return engine.metric("controller_runtime_reconcile_errors_total")


def waits_after_errors(engine: EngineProcess, namespace: str) -> list[float]:
    """Seconds that the engine logs, for each reconcile of the namespace that failed."""
    failed = rf"reconcile failed .*namespace={namespace} .*next_in_s=([\d.]+)"
    return [float(seconds) for seconds in re.findall(failed, engine.log)]


@pytest.mark.nightly
async def test_namespace_that_is_deleted_with_crs_runs_and_finalizers_in_it_goes_without_a_storm(
    api: Client, namespace: str, shared_engine: SharedEngine, tmp_path: Path, figure: Figure
) -> None:
    doomed, engine = f"{namespace[:50]}-doomed", shared_engine
    await api.create(NAMESPACE, {"metadata": {"name": doomed}})
    engine.begin_test(namespace, doomed)
    trails = {name: tmp_path / name for name in ("a", "b", "c")}
    for name, trail in trails.items():
        await api.create(KEPT, kept(doomed, name, trail=str(trail)))
        await converged(api, doomed, name, "one")
    # One whose run is in flight: what it makes next is refused, for the namespace is being terminated.
    go, trail = tmp_path / "go", tmp_path / "flying"
    await api.create(KEPT, kept(doomed, "flying", until=str(go), trail=str(trail)))
    eventually(lambda: "begins present" in trail.read_text(), ignoring=(OSError,))
    before = engine.runs()
    began = time.monotonic()
    await api.delete(NAMESPACE, "", doomed)
    go.touch()
    await eventually_async(lambda: is_gone(api, NAMESPACE, "", doomed))
    figure("gone in", time.monotonic() - began, "s")
    at_rest(engine)
    runs, failed = engine.runs() - before, engine.runs(result="failed")
    figure("with", runs, "runs for 4 CRs")
    figure("of which", failed, "failed")
    trails["flying"] = trail
    finalizers = {name: finalizer_runs(each) for name, each in trails.items()}
    assert finalizers == {name: ["begins", "ends"] for name in trails}  # for each CR, once
    assert not any(doubled_runs(each) for each in trails.values())
    # A finalizer run each; and, as what a CR owns may be deleted before it, two that make it in vain.
    assert failed <= 2 * 4, engine.log
    assert runs <= 4 + 2 * 4, engine.log
    # The others are served all the same.
    await api.create(KEPT, kept(namespace, "alive"))
    await converged(api, namespace, "alive", "one")
    assert "Traceback" not in engine.log


async def create_deep(api: Client, namespace: str, name: str) -> None:
    """An object that Python does not read."""
    deep = "[" * 5_000 + "]" * 5_000
    body = json.dumps(kept(namespace, name, deep="DEEP")).replace('"DEEP"', deep)
    asking = api.request_raw(
        "POST",
        f"/apis/{KEPT.group}/{KEPT.version}/namespaces/{namespace}/kepts",
        headers={"Content-Type": "application/json"},
        body=body.encode(),
    )
    async with asking as response:
        assert response.status == 201, await response.text()


def is_reported(engine: EngineProcess, name: str) -> bool:
    """Whether the log says that it cannot be read."""
    reported = rf"(?m)^(?=.*kind=Kept)(?=.*name={name}\b).*nested too deeply to be read"
    return re.search(reported, engine.log) is not None


async def test_object_that_is_nested_too_deeply_holds_up_no_other_of_its_kind(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    await create_deep(api, namespace, "listed")
    engine = start_engine(FAULTS, namespaces=namespace)
    await api.create(KEPT, kept(namespace, "before"))
    await converged(api, namespace, "before", "one")
    await create_deep(api, namespace, "watched")
    await api.create(KEPT, kept(namespace, "after"))
    await converged(api, namespace, "after", "one")

    for name in ("listed", "watched"):
        eventually(partial(is_reported, engine, name))
    assert "Traceback" not in engine.log
    for name in ("listed", "watched"):
        await api.delete(KEPT, namespace, name)


@contextmanager
def webhook_down(cluster: Cluster, namespace: str, resource: str) -> Iterator[None]:
    """A foreign webhook for all writes to a resource, whose server is down."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    group, plural = KEPT.group, resource
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "resources": [plural]}
    hook = {
        "name": "down.example.com",
        "clientConfig": {"url": f"https://127.0.0.1:{port}/"},
        "rules": [{**rule, "operations": ["UPDATE"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 2,
    }
    name = f"down-{namespace}"[:60]
    cluster.api.create(WEBHOOKS, {"metadata": {"name": name}, "webhooks": [hook]})
    try:
        yield
    finally:
        cluster.api.delete(f"{WEBHOOKS}/{name}")


async def webhook_refuses(api: Client, namespace: str, name: str, subresource: str) -> None:
    """A new webhook is asked after a moment."""

    async def is_refused() -> bool:
        try:
            await api.merge_patch(
                KEPT, namespace, name, {"metadata": {"labels": {"a": "b"}}}, subresource=subresource
            )
        except Exception as refusal:
            return "down.example.com" in str(refusal)
        return False

    await eventually_async(is_refused)


async def reported_by_events(api: Client, namespace: str, name: str) -> str:
    """What `kubectl describe` shows of an object."""
    events: list[Json] = await api.list_all(EVENT, namespace)
    return "\n".join(
        each["note"] if "note" in each else each["message"]
        for each in events
        if each["involvedObject"]["name"] == name
    )


@pytest.mark.nightly
async def test_webhook_that_is_down_while_status_is_written_costs_no_run_and_is_reported(
    api: Client,
    cluster: Cluster,
    namespace: str,
    shared_engine: SharedEngine,
    tmp_path: Path,
    figure: Figure,
) -> None:
    trail = tmp_path / "trail"
    engine, errors_before = shared_engine, errors_of(shared_engine)
    await api.create(KEPT, kept(namespace, "a", trail=str(trail)))
    await converged(api, namespace, "a", "one")
    at_rest(engine)  # the end of a run is logged after its status was written
    runs = engine.runs()
    with webhook_down(cluster, namespace, "kepts/status"):
        await webhook_refuses(api, namespace, "a", "status")
        await api.merge_patch(KEPT, namespace, "a", {"spec": {"word": "two"}})
        await eventually_async(
            lambda: reported_by_events(api, namespace, "a"), lambda said: "down.example.com" in said
        )
        eventually(lambda: errors_of(engine) - errors_before >= 3)
        assert "down.example.com" in engine.log
        assert engine.runs() == runs  # nothing is run whose outcome could not be reported
    began = time.monotonic()
    await converged(api, namespace, "a", "two")
    figure("converged in", time.monotonic() - began, "s")
    at_rest(engine)
    figure("with", engine.runs() - runs, "run")
    assert engine.runs() == runs + 1
    assert not doubled_runs(trail)


@pytest.mark.nightly
async def test_webhook_that_is_down_while_the_finalizer_is_taken_off_holds_it_and_lets_it_go_later(
    api: Client,
    cluster: Cluster,
    namespace: str,
    shared_engine: SharedEngine,
    tmp_path: Path,
    figure: Figure,
) -> None:
    trail = tmp_path / "trail"
    engine, errors_before = shared_engine, errors_of(shared_engine)
    await api.create(KEPT, kept(namespace, "a", trail=str(trail)))
    await converged(api, namespace, "a", "one")
    with webhook_down(cluster, namespace, "kepts"):
        await webhook_refuses(api, namespace, "a", "")
        await api.delete(KEPT, namespace, "a")
        eventually(lambda: errors_of(engine) - errors_before >= 2)
        held = await api.get(KEPT, namespace, "a")
        assert FINALIZER in held["metadata"]["finalizers"]
        assert "down.example.com" in engine.log
        assert "down.example.com" in await reported_by_events(api, namespace, "a")
        refused = errors_of(engine) - errors_before
        # Each is the end of one finalizer run, and the wait after it is twice the one before.
        waits = waits_after_errors(engine, namespace)
        assert refused <= len(waits) <= ended_runs(trail, "absent")
        start_s = QueueSettings().backoff_start_s
        assert waits == pytest.approx([start_s * 2**count for count in range(len(waits))])
    began = time.monotonic()
    await gone_with_all(api, namespace, "a")
    figure("gone in", time.monotonic() - began, "s")
    at_rest(engine)
    figure("after", ended_runs(trail, "absent"), "finalizer runs")
    assert not doubled_runs(trail)


@pytest.mark.nightly
async def test_webhook_that_is_down_while_the_finalizer_is_put_on_costs_no_run(
    api: Client,
    cluster: Cluster,
    namespace: str,
    start_engine: StartEngine,
    tmp_path: Path,
    figure: Figure,
) -> None:
    trail = tmp_path / "trail"
    await api.create(KEPT, kept(namespace, "a", trail=str(trail)))
    with webhook_down(cluster, namespace, "kepts"):
        await webhook_refuses(api, namespace, "a", "")
        engine = start_engine(FAULTS)
        await eventually_async(
            lambda: reported_by_events(api, namespace, "a"), lambda said: "down.example.com" in said
        )
        assert not trail.exists()  # nothing is made that would not be cleaned up
        assert await is_gone(api, CONFIG_MAP, namespace, "a-made")
    began = time.monotonic()
    await converged(api, namespace, "a", "one")
    figure("converged in", time.monotonic() - began, "s")
    at_rest(engine)
    assert ended_runs(trail, "present") == 1
