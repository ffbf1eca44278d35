"""Reconcile, as a person asks for it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.control.engine import Known, World, asked, key


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
