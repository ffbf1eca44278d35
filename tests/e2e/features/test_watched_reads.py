"""What a role read and does not own brings its CR back when it changes."""

from __future__ import annotations

import time

import pytest

from rolecall.kube import Client
from tests.e2e.engine import EngineProcess
from tests.e2e.features.logs import at_rest, causes
from tests.e2e.kinds import CONFIG_MAP
from tests.e2e.wanted_kinds import SECRET, VAULT, create_input, eventually_data, made


async def test_changed_secret_brings_its_reader_within_a_second(
    api: Client, namespace: str, engine: EngineProcess
) -> None:
    await create_input(api, namespace, "password", kind="Secret")
    await made(api, VAULT, namespace, secret="password")
    runs = at_rest(engine, namespace)
    changed = time.monotonic()
    await api.merge_patch(SECRET, namespace, "password", {"data": {"word": "bmV3"}})
    await eventually_data(api, namespace, "x-read", lambda data: "bmV3" in data["secret"])
    assert time.monotonic() - changed < 5  # a second on an idle machine
    assert causes(engine, namespace)[-1] == "change of Secret password that the role reads"
    assert at_rest(engine, namespace) == runs + 1


@pytest.mark.nightly
async def test_what_a_lookup_read_is_watched_and_own_writes_bring_nothing(
    api: Client, namespace: str, engine: EngineProcess
) -> None:
    """The role raises a number in what it reads: a run for each would never end."""
    await create_input(api, namespace, "number")
    await made(api, VAULT, namespace, lookup_of="number", writes="number")
    runs = at_rest(engine, namespace)
    await api.merge_patch(CONFIG_MAP, namespace, "number", {"data": {"count": "n41"}})
    await eventually_data(api, namespace, "number", lambda data: data["count"] == "n42")
    assert at_rest(engine, namespace) == runs + 1
