"""Reconcile, as a person asks for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.unit.extensions.console.control.engine import Known, World, asked, key

from rolecall.reconcile import Progress


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        ({"kind": "Website", "namespace": "shop", "name": "a"}, ["Website shop/a"]),
        ({"kind": "website", "name": "a"}, ["Website shop/a"]),
        ({"all": True}, ["Website shop/a", "Website shop/b", "Website store/b"]),
        ({"kind": "Website", "all": True, "namespace": "store"}, ["Website store/b"]),
    ],
)
async def test_reconcile_reaches_whom_it_names(
    world: World, body: dict[str, Any], keys: list[str]
) -> None:
    world.known = {key("a"): Known(), key("b"): Known(is_paused=True), key("b", "store"): Known()}
    async with world.served() as path:
        code, answer = await asked(path, "POST", "/v1/reconcile", body)

    assert (code, answer["keys"]) == (202, keys)
    assert answer["paused"] == [each for each in keys if each == "Website shop/b"]
    assert world.asked == [(each, "asked for by a person") for each in keys]


@pytest.mark.parametrize(
    ("body", "code", "error"),
    [
        (
            {"kind": "Website", "name": "blgo"},
            404,
            "there is no Website blgo; there are: shop/blog",
        ),
        (
            {"kind": "Websit", "name": "blog"},
            404,
            "there is no Websit; kinds with objects: Website",
        ),
        ({"kind": "Website", "name": "two"}, 404, "Website two is in shop, store"),
        ({}, 400, "say `kind` and `name`"),
        ([], 400, "not a JSON object"),
        ({"kind": 3, "name": "x"}, 400, "`kind` is not a string"),
    ],
)
async def test_refusal_says_what_is_there(world: World, body: Any, code: int, error: str) -> None:
    world.known = {key("blog"): Known(), key("two"): Known(), key("two", "store"): Known()}
    async with world.served() as path:
        found, answer = await asked(path, "POST", "/v1/reconcile", body)

    assert found == code
    assert error in answer["error"]
    assert world.asked == []


async def test_replica_that_does_not_lead_names_the_leader(world: World) -> None:
    world.known[key("a")] = Known()
    world.leads = False
    async with world.served() as path:
        code, answer = await asked(path, "POST", "/v1/reconcile", {"all": True})

    assert code == 409
    assert "`the-other-pod` does" in answer["error"]
    assert world.asked == []


def in_flight(run: str) -> Progress:
    return Progress.at_start(run, "edit", datetime(2026, 11, 27, tzinfo=UTC))


@pytest.mark.parametrize("run", ["", "47", "4711"])
async def test_stop_ends_the_run_in_flight_and_names_who_asked(world: World, run: str) -> None:
    world.known = {key("a"): Known(), key("b"): Known()}
    world.in_flight = {key("a"): in_flight("4711")}
    body = {"kind": "Website", "name": "a", "run": run, "by": "jane"}
    async with world.served() as path:
        code, answer = await asked(path, "POST", "/v1/stop", body)
    assert (code, answer["key"], answer["run"]) == (202, "Website shop/a", "4711")
    assert world.asked == [("Website shop/a", "stop for jane")]


async def test_run_of_a_cr_that_is_gone_can_be_stopped(world: World) -> None:
    world.in_flight = {key("gone"): in_flight("4711")}
    async with world.served() as path:
        code, _ = await asked(path, "POST", "/v1/stop", {"kind": "Website", "name": "gone"})
    assert code == 202
    assert world.asked == [("Website shop/gone", "stop for a person")]


@pytest.mark.parametrize(
    ("body", "code", "error"),
    [
        ({"kind": "Website", "name": "b"}, 409, "no run of Website shop/b is in flight"),
        ({"kind": "Website", "name": "a", "run": "9"}, 409, "the current one is 4711"),
        ({"kind": "Website", "name": "a", "run": 9}, 400, "`run` is not a string"),
        ({"kind": "Website", "name": "c"}, 404, "there is no Website c"),
        ({"all": True}, 400, "name one CR"),
        ({"kind": "Website", "name": "a", "all": True}, 400, "name one CR"),
        ([], 400, "not a JSON object"),
    ],
)
async def test_stop_is_refused_where_no_such_run_is_in_flight(
    world: World, body: Any, code: int, error: str
) -> None:
    world.known = {key("a"): Known(), key("b"): Known()}
    world.in_flight = {key("a"): in_flight("4711")}
    async with world.served() as path:
        found, answer = await asked(path, "POST", "/v1/stop", body)
    assert found == code and error in answer["error"]
    assert world.asked == []


async def test_replica_that_does_not_lead_stops_nothing(world: World) -> None:
    world.known, world.in_flight = {key("a"): Known()}, {key("a"): in_flight("4711")}
    world.leads = False
    async with world.served() as path:
        code, _ = await asked(path, "POST", "/v1/stop", {"kind": "Website", "name": "a"})
    assert (code, world.asked) == (409, [])
