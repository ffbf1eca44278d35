"""Handlers of kopf that the API server asks before it stores an object, on every replica."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.crates import MUTATING, VALIDATING, Person, crate
from tests.e2e.engine import PATIENCE_S, EngineProcess
from tests.e2e.kinds import kind
from tests.e2e.test_handlers import ticks
from tests.e2e.test_handlers_faults import child_of
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually, eventually_async

PROJECT = Path(__file__).parent / "handlers_asked"
PARCEL = kind("Parcel")


def flags(namespace: str) -> list[str]:
    return [
        "--webhook-bind-address=127.0.0.1:0",
        "--webhook-period=1s",
        "--leader-elect",
        "--leader-election-id=asked",
        f"--leader-election-namespace={namespace}",
    ]


@pytest.fixture
async def engine(
    api: Client, start_engine: StartEngine, namespace: str
) -> AsyncIterator[EngineProcess]:
    """One that the API server asks by now."""
    await install(api, crd_for(PARCEL))
    engine = start_engine(PROJECT, *flags(namespace)).wait_ready()
    heavy = Person(api, namespace)

    async def is_asked() -> bool:
        return (await heavy.create(PARCEL, "asked", "?dryRun=All", weight=101)).code == 422

    await eventually_async(is_asked, timeout_s=PATIENCE_S)
    yield engine
    for configuration in (VALIDATING, MUTATING):
        await api.delete(configuration, "", "rolecall-webhooks")


async def test_handlers_decide_what_is_stored_and_complete_it(
    api: Client, engine: EngineProcess, namespace: str
) -> None:
    jane = Person(api, namespace)

    denied = await jane.create(PARCEL, "heavy", weight=101)
    stored = await jane.create(PARCEL, "large", weight=60)

    assert denied.message == (
        'admission webhook "validate.parcel.e2e.rolecall.dev" denied the request:'
        " weight 101 is more than 100"
    )
    assert stored.code == 201, stored.message
    assert stored.body["metadata"]["labels"] == {"asked-for-by": "jane", "seen": "jane"}
    assert stored.body["spec"] == {"size": 1, "weight": 60, "colour": "brown"}
    assert stored.warnings == ['299 - "weight 60 is large"']

    async def are_too_many() -> bool:
        found = await jane.create(PARCEL, "more", "?dryRun=All", weight=50)
        return "all parcels together weigh more than 100" in found.message

    await eventually_async(are_too_many, timeout_s=PATIENCE_S)
    await eventually_async(
        lambda: api.get(PARCEL, namespace, "large"), lambda cr: ticks(cr) > 1, timeout_s=PATIENCE_S
    )
    assert (await jane.change(PARCEL, "large", kept=True, weight=200)).code == 200
    kept = await jane.ask("DELETE", jane.path(PARCEL, "large"))
    assert (kept.code, "it is kept" in kept.message) == (403, True)
    assert (await jane.change(PARCEL, "large", kept=False)).code == 200
    assert (await jane.ask("DELETE", jane.path(PARCEL, "large"))).code == 200
    denials = {"review": "validate", "operation": "CREATE", "result": "denied"}
    assert engine.metric("rolecall_admission_requests_total", **denials) >= 2
    assert "admission denied" in engine.log
    assert re.search(r"asked about 60 +kind=Parcel .*name=large", engine.log)
    assert "failed" not in engine.log


async def test_replica_that_does_not_lead_answers_and_acts_once_it_leads(
    api: Client, engine: EngineProcess, start_engine: StartEngine, namespace: str
) -> None:
    follower = start_engine(PROJECT, *flags(namespace)).wait_ready()
    first = child_of(follower)
    body = crate(PARCEL, namespace, "heavy", weight=101)
    assert "weight 101 is more than 100" in asked_directly(follower, body)
    jane = Person(api, namespace)
    assert (await jane.create(PARCEL, "light", weight=1)).code == 201
    await eventually_async(
        lambda: api.get(PARCEL, namespace, "light"), lambda cr: ticks(cr) > 1, timeout_s=PATIENCE_S
    )
    assert follower.metric("rolecall_handler_calls_total", handler="tick") == 0

    engine.send(signal.SIGKILL)

    eventually(
        lambda: follower.metric("rolecall_handler_calls_total", handler="tick") > 0,
        timeout_s=PATIENCE_S,
    )
    assert child_of(follower) != first
    assert "weight 101 is more than 100" in asked_directly(follower, body)


async def test_killed_process_of_handlers_lets_the_api_server_wait_for_the_next_one(
    api: Client, engine: EngineProcess, namespace: str
) -> None:
    os.kill(child_of(engine), signal.SIGKILL)

    denied = await Person(api, namespace).create(PARCEL, "heavy", weight=101)

    assert denied.code == 422
    assert "weight 101 is more than 100" in denied.message


def asked_directly(engine: EngineProcess, body: dict[str, object]) -> str:
    """What a replica answers, leader or not."""
    request = {
        **{"uid": "u", "operation": "CREATE", "userInfo": {"username": "jane"}, "object": body},
        "kind": {"group": PARCEL.group, "version": PARCEL.version, "kind": PARCEL.kind},
        "resource": {"group": PARCEL.group, "version": PARCEL.version, "resource": "parcels"},
    }
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": request,
    }
    path = f"/validate/{PARCEL.group}/v1/parcel"
    return engine.ask("webhooks", path, body=json.dumps(review).encode(), scheme="https")[1]
