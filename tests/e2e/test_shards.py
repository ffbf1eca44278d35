"""Several replicas divide the CRs: each CR has one that runs it, whatever becomes of the others."""

from __future__ import annotations

import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S, EngineProcess
from tests.e2e.kinds import cr, install, is_successful, kind
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually, eventually_async

PLAIN, SLOW = kind("Plain"), kind("Slow")
LEASE = Gvk("coordination.k8s.io", "v1", "Lease")
LEASE_S = 8.0
SHARDS = 16
NAMES = [f"x{number}" for number in range(24)]
# A hand-over takes well below a second; this is for a machine that is busy, and still below a lease.
AT_ONCE_S = LEASE_S / 2

StartReplica = Callable[..., EngineProcess]
_RAN = re.compile(r"run started.*\bname=(\S+)")


@pytest.fixture
def start_replica(start_engine: StartEngine, namespace: str) -> StartReplica:
    """A replica whose Lease runs out soon enough for a test."""
    flags = (
        "--leader-election-id=shared",
        f"--leader-election-namespace={namespace}",
        f"--leader-elect-lease-duration={LEASE_S:g}s",
        "--leader-elect-renew-deadline=5s",
        "--graceful-shutdown-timeout=20s",
    )
    return lambda *more: start_engine(BEHAVIOURS, *flags, *(more or [f"--shards={SHARDS}"]))


@pytest.fixture(autouse=True)
async def kinds(api: Client) -> None:
    for gvk in (PLAIN, SLOW):
        await install(api, crd_for(gvk))


def held(engine: EngineProcess) -> float:
    return engine.metric("rolecall_shards_held")


def share(*engines: EngineProcess) -> None:
    """Wait until each has some, and together they have all."""

    def is_divided() -> bool:
        parts = [held(engine) for engine in engines]
        return all(parts) and sum(parts) == SHARDS

    eventually(is_divided, timeout_s=PATIENCE_S)


def ran(engine: EngineProcess) -> Counter[str]:
    """How often it began a run of each CR."""
    return Counter(_RAN.findall(engine.log))


async def create_all(api: Client, namespace: str) -> None:
    for name in NAMES:
        await api.create(PLAIN, cr(PLAIN, namespace, name))
    await all_successful(api, namespace)


async def all_successful(api: Client, namespace: str) -> None:
    for name in NAMES:
        await eventually_async(
            lambda name=name: api.get(PLAIN, namespace, name), is_successful, timeout_s=PATIENCE_S
        )


async def test_two_replicas_share_all_crs_and_each_is_run_by_one(
    api: Client, namespace: str, start_replica: StartReplica
) -> None:
    first, second = start_replica(), start_replica()
    share(first, second)
    await create_all(api, namespace)

    assert ran(first) + ran(second) == Counter(NAMES)
    assert ran(first) and ran(second)
