"""A real API server asks the engine before it stores an object, and does as the role says."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.localcluster import Binaries, Cluster
from tests.apiserver.kubectl import Kubectl
from tests.e2e.conftest import StartEngine
from tests.e2e.crates import (
    ADMISSION,
    BAG,
    BASKET,
    CRATE,
    GROUP,
    GUIDE,
    KINDS,
    MUTATING,
    SACK,
    VALIDATING,
    Person,
    crate,
    crd,
    plural,
    project,
)
from tests.e2e.engine import EngineProcess
from tests.e2e.kinds import CONFIG_MAP, is_gone
from tests.fixtures.crds import CRD, install
from tests.fixtures.eventually import eventually_async

SECRET = "s3cr3t-passw0rd"


def flags(namespace: str) -> list[str]:
    return [
        "--webhook-bind-address=127.0.0.1:0",
        "--webhook-period=1s",
        "--max-admission-runs=2",
        "--leader-elect",
        "--leader-election-id=admission",
        f"--leader-election-namespace={namespace}",
    ]


@pytest.fixture
async def engine(
    api: Client, start_engine: StartEngine, namespace: str, tmp_path: Path
) -> AsyncIterator[EngineProcess]:
    """One that the API server asks by now."""
    for gvk in KINDS:
        await install(api, crd(gvk))
    engine = start_engine(project(tmp_path / "project"), *flags(namespace)).wait_ready()
    even = Person(api, namespace)

    async def is_asked() -> bool:
        found = await even.create(CRATE, "asked", "?dryRun=All", size=2)
        return found.code == 403

    await eventually_async(is_asked)
    yield engine
    for gvk in KINDS:
        await api.delete(CRD, "", f"{plural(gvk)}.{gvk.group}")
    for kind in (VALIDATING, MUTATING):
        await api.delete(kind, "", "rolecall-webhooks")


async def test_role_decides_what_is_stored(
    api: Client, engine: EngineProcess, namespace: str, binaries: Binaries, cluster: Cluster
) -> None:
    await guide_shows_what_users_see(Kubectl(binaries, cluster), namespace)
    jane = Person(api, namespace)
    denied = await jane.create(CRATE, "even", size=2)
    assert (denied.code, denied.body["reason"]) == (403, "Forbidden")
    assert denied.message == (
        'admission webhook "validate.crate.admission.rolecall.dev" denied the request:'
        " size 2 of even is even; take an odd one"
    )

    # What `mutate` set, `validate` has seen; no other fields were touched.
    stored = await jane.create(CRATE, "one", does="colour", size=11)
    assert stored.code == 201, stored.message
    assert stored.body["spec"] == {"size": 11, "does": "colour", "colour": "brown"}
    assert stored.body["metadata"]["labels"] == {"asked-for-by": "jane"}
    assert stored.warnings == ['299 - "size 11 is large"']

    many = await jane.create(CRATE, "many", does="many")
    assert many.message.endswith("denied the request: 12 is too large; 13 is too large")

    dry = await jane.create(CRATE, "dry", "?dryRun=All", size=4)
    assert "size 4 of dry is even" in dry.message
    assert (await jane.create(CRATE, "dry", "?dryRun=All")).code == 201
    assert await is_gone(api, CRATE, namespace, "dry")

    assert "size 6 of one is even" in (await jane.change(CRATE, "one", size=6)).message
    scaled = await jane.ask("PATCH", jane.path(CRATE, "one/scale"), {"spec": {"replicas": 7}})
    assert "7 replicas are too many" in scaled.message
    assert (await jane.change(CRATE, "one", size=3, kept=True)).code == 200

    mallory = replace(jane, name="mallory")
    assert "mallory may not UPDATE one" in (await mallory.change(CRATE, "one", size=5)).message
    kept = await jane.ask("DELETE", jane.path(CRATE, "one"))
    assert (kept.code, "one is kept" in kept.message) == (403, True)
    # The operator itself is never asked, or nothing could mend what the role gets wrong.
    await api.merge_patch(CRATE, namespace, "one", {"spec": {"kept": False, "size": 2}})
    gone = await jane.ask("DELETE", jane.path(CRATE, "one"))
    assert gone.code == 200, gone.message

    pod = {"name": "p", "namespace": namespace}
    image = {"name": "c", "image": "none"}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": pod, "spec": {"containers": [image]}}
    pods = f"/api/v1/namespaces/{namespace}/pods"
    assert (await jane.ask("POST", pods, body)).code == 201
    attached = await jane.ask("POST", f"{pods}/p/attach?stdout=true")
    assert "no user may CONNECT to p/attach" in attached.message

    await no_secret_is_reported(jane, engine)
    counted = {"review": "validate", "operation": "CREATE", "result": "denied"}
    assert engine.metric("rolecall_admission_requests_total", **counted) >= 2
    assert engine.metric("rolecall_admission_seconds_count", review="mutate") >= 2


async def guide_shows_what_users_see(kubectl: Kubectl, namespace: str) -> None:
    reported = GUIDE.read_text()
    as_jane = ("--as=jane", "--as-group=system:masters", f"--namespace={namespace}")
    assert "apply -f even.yaml --as=jane" in reported
    for name, size in (("even", 4), ("large", 7)):
        text = json.dumps(crate(BASKET, namespace, name, size=size, kept=True))
        said = kubectl.run("apply", "-f", "-", *as_jane, stdin=text)
        shown = f"{said.stdout}{said.stderr}".replace('"STDIN"', f'"{name}.yaml"')
        for line in shown.splitlines():
            assert line in reported, line
    colour = kubectl("get", "basket", "large", "--output=jsonpath={.spec.colour}", *as_jane)
    assert colour == "brown"
    kept = kubectl.run("delete", "basket", "large", *as_jane)
    assert "large is kept; set spec.kept to false first" in kept.stderr


async def no_secret_is_reported(jane: Person, engine: EngineProcess) -> None:
    """Not in a denial, a warning or a log, nor in what is kept of the run."""
    data = {"password": base64.b64encode(SECRET.encode()).decode()}
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "reported"}, "data": data}
    await jane.ask("POST", f"/api/v1/namespaces/{jane.namespace}/secrets", body)
    reported = await jane.create(CRATE, "leak", does="leak")
    assert "denied for ********" in reported.message
    assert reported.warnings == ['299 - "warned of ********"']
    assert SECRET not in engine.log + engine.play_output
    kept = [file for file in engine.artifacts.rglob("*") if file.is_file()]
    assert any("denied for" in file.read_text(errors="replace") for file in kept)
    assert not [file for file in kept if SECRET in file.read_text(errors="replace")]


@pytest.mark.nightly
async def test_role_that_comes_to_no_verdict_leaves_it_to_the_failure_policy(
    api: Client, engine: EngineProcess, start_engine: StartEngine, namespace: str
) -> None:
    follower = start_engine(ADMISSION, *flags(namespace))
    jane = Person(api, namespace)
    said = {
        "hang": "longer than 1.",
        "loop": "longer than 1.",
        "crash": "'no_such_variable' is undefined",
        "write": "a play of admission has no side effects",
    }
    for does, words in said.items():
        refused = await jane.create(BAG, does, does=does)
        assert refused.code == 500, refused
        assert words in refused.message, does
        stored = await jane.create(SACK, does, does=does)
        assert stored.code == 201, stored.message
    assert await is_gone(api, CONFIG_MAP, namespace, "written")
    tried = await jane.create(CRATE, "try", does="try")
    assert tried.code == 201, tried.message
    assert await is_gone(api, CONFIG_MAP, namespace, "tried")
    assert engine.metric("rolecall_admission_requests_total", result="failed") >= 8

    # Eight at once, with two plays each, for two places: each waits for its turn, and all are answered.
    # More would need a machine with nothing else to do, for each has ten seconds.
    sizes = [1 + number % 2 for number in range(8)]
    asking = [jane.create(CRATE, f"c{number}", size=size) for number, size in enumerate(sizes)]
    assert [each.code for each in await asyncio.gather(*asking)] == [201, 403] * 4

    follower.wait_ready()
    assert follower.metric("leader_election_master_status") == 0
    assert "size 2 of even is even" in asked_directly(
        follower, crate(CRATE, namespace, "even", size=2)
    )
    would = asked_directly(follower, crate(CRATE, namespace, "try", does="try"))
    assert '"allowed": true' in would


def asked_directly(engine: EngineProcess, body: Json) -> str:
    """What a replica answers, leader or not."""
    request = {"uid": "u", "operation": "CREATE", "namespace": body["metadata"]["namespace"]}
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {**request, "userInfo": {"username": "jane"}, "object": body},
    }
    path = f"/validate/{GROUP}/v1/crate"
    return engine.ask("webhooks", path, body=json.dumps(review).encode(), scheme="https")[1]
