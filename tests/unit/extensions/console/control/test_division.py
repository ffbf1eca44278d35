"""What one of several replicas says of CRs that it has, that another has, and that no replica has."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.unit.extensions.console.control.engine import Known, World, asked, key, state


def named(number: int) -> dict[str, str]:
    return {"kind": "Website", "namespace": "shop", "name": f"cr-{number}"}


def know_four(world: World) -> None:
    for number in range(4):
        world.known[key(f"cr-{number}")] = Known(is_paused=number == 2)


async def test_each_cr_says_who_has_it(world: World) -> None:
    know_four(world)
    world.divide(mine=[0, 3], theirs=[2], unheld={1: 5.0})
    for name in ("cr-0", "cr-1"):
        world.keep(name, outcome="succeeded")
    async with world.served() as path:
        crs = await state(path)
        _, document = await asked(path, "GET", "/v1/state")

    said = {name: (cr["shard"], cr["replica"], cr["state"]) for name, cr in crs.items()}
    assert said == {
        "cr-0": (0, "web-0", "ready"),
        "cr-1": (1, "", "unknown"),
        "cr-2": (2, "web-1", "paused"),
        "cr-3": (3, "web-0", "unknown"),
    }
    assert crs["cr-0"]["last"]["outcome"] == "succeeded"
    assert crs["cr-1"]["last"] is None
    assert document["engine"]["shards"] == {"count": 4, "held": 2, "replica": "web-0"}


async def test_without_a_division_nothing_is_said_of_one(world: World) -> None:
    know_four(world)
    async with world.served() as path:
        crs = await state(path)
        _, document = await asked(path, "GET", "/v1/state")
        _, shards = await asked(path, "GET", "/v1/shards")

    assert {(cr["shard"], cr["replica"]) for cr in crs.values()} == {(None, None)}
    assert document["engine"]["shards"] is None
    assert shards == {"shards": None}


async def test_members_and_gaps_are_reported_by_name_and_since_when(world: World) -> None:
    world.divide(mine=[3, 0], theirs=[2], unheld={1: 5.0}, why_not="`old` works without shards")
    async with world.served() as path:
        _, answer = await asked(path, "GET", "/v1/shards")

    shards = answer["shards"]
    own, other = shards["members"]
    assert (own["replica"], own["self"], own["shards"]) == ("web-0", True, [0, 3])
    assert (other["replica"], other["self"], other["shards"]) == ("web-1", False, [2])
    assert own["runs_per_minute"] == 12.5
    (gap,) = shards["unheld"]
    age = world.clock.now() - datetime.fromisoformat(gap["since"])
    assert (gap["shard"], timedelta(seconds=4) < age < timedelta(seconds=60)) == (1, True)
    assert shards["why_not"] == "`old` works without shards"


async def test_reconcile_of_another_replicas_cr_says_who_has_it(world: World) -> None:
    know_four(world)
    world.divide(mine=[0, 3], theirs=[2])
    async with world.served() as path:
        own = await asked(path, "POST", "/v1/reconcile", named(0))
        theirs = await asked(path, "POST", "/v1/reconcile", named(2))
        unheld = await asked(path, "POST", "/v1/reconcile", named(1))

    assert own == (202, {"keys": ["Website shop/cr-0"], "paused": []})
    assert theirs[0] == unheld[0] == 409
    assert "`web-1` has shard 2 of 4, so ask there" in theirs[1]["error"]
    assert "shard 1 of 4 has no holder now" in unheld[1]["error"]
    assert [each for each, _ in world.asked] == ["Website shop/cr-0"]


async def test_all_means_those_of_this_replica(world: World) -> None:
    know_four(world)
    world.divide(mine=[0, 3], theirs=[2])
    async with world.served() as path:
        code, answer = await asked(path, "POST", "/v1/reconcile", {"all": True})

    assert (code, answer["keys"]) == (202, ["Website shop/cr-0", "Website shop/cr-3"])


async def test_replica_that_may_not_work_says_why(world: World) -> None:
    know_four(world)
    world.leads = False
    world.divide(mine=[], theirs=[], why_not="replica `old` works without shards")
    async with world.served() as path:
        code, answer = await asked(path, "POST", "/v1/reconcile", {"all": True})

    assert (code, world.asked) == (409, [])
    assert answer["error"].endswith("no CR now: replica `old` works without shards")
