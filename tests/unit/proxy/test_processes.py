"""The credential of a process that acts for many CRs, and what of them it must leave alone."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.proxy.conditions import writes_conditions
from rolecall.proxy.identity import Owner, encode_identity
from rolecall.proxy.run_credentials import ProcessCredential, RunCredentials
from rolecall.watches import Play, Watch

SITE, SHOP = Gvk("example.com", "v1", "Site"), Gvk("example.com", "v1", "Shop")
WATCHES = {gvk: Watch(gvk, Play(Path("/roles/x"), is_role=True)) for gvk in (SITE, SHOP)}


class Hand:
    def __init__(self) -> None:
        self.is_ours = True

    def holds(self) -> bool:
        return self.is_ours


def header(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def test_each_request_says_for_which_cr_it_is_sent() -> None:
    credentials, hand = RunCredentials(), Hand()
    process = ProcessCredential("handlers", WATCHES, hand)
    credentials.issue_to_process(process)
    owner = Owner(SHOP, "shops", "a", "uid-a")

    found = credentials.find(header(encode_identity(owner), process.password))

    assert found is not None
    assert (found.owner, found.watch.gvk) == (owner, SHOP)
    assert found.may_write()
    hand.is_ours = False
    assert not found.may_write()


@pytest.mark.parametrize(
    "user",
    ["handlers", "", encode_identity(Owner(Gvk("", "v1", "Secret"), "kube-system", "x", "uid"))],
)
def test_request_for_no_cr_of_its_watches_owns_nothing(user: str) -> None:
    credentials = RunCredentials()
    process = ProcessCredential("handlers", WATCHES, Hand())
    credentials.issue_to_process(process)

    found = credentials.find(header(user, process.password))

    assert found is not None
    assert found.owner.uid == ""


async def test_revoked_process_is_refused_and_its_open_requests_are_cut() -> None:
    credentials = RunCredentials()
    process = ProcessCredential("handlers", WATCHES, Hand())
    credentials.issue_to_process(process)
    login = header("handlers", process.password)

    async def ask() -> None:
        found = credentials.find(login)
        assert found is not None
        with found.serving():
            await asyncio.Event().wait()

    request = asyncio.create_task(ask())
    await asyncio.sleep(0)
    credentials.revoke(process)

    await asyncio.wait({request})
    assert request.cancelled()
    assert credentials.find(login) is None


@pytest.mark.parametrize(
    ("body", "is_refused"),
    [
        ({"status": {"reachable": True}}, False),
        ({"metadata": {"annotations": {"conditions": "x"}}}, False),
        ({"status": {"conditions": []}}, True),
        ({"status": {"conditions": None}}, True),
        ([{"op": "add", "path": "/status/conditions/0", "value": {}}], True),
        ([{"op": "replace", "path": "/status", "value": {}}], True),
        ([{"op": "add", "path": "/status/reachable", "value": True}], False),
    ],
)
def test_conditions_are_seen_in_each_form_of_a_patch(body: object, *, is_refused: bool) -> None:
    assert writes_conditions(json.dumps(body).encode()) is is_refused


def test_conditions_are_seen_in_an_apply_of_yaml() -> None:
    assert writes_conditions(b"status:\n  conditions: []\n")
    assert not writes_conditions(b"status:\n  reachable: true\n")
