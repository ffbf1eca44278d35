"""What a person reads where replicas divide the CRs."""

from __future__ import annotations

import json
from typing import Any

from rolecall.json_object import Json
from tests.unit.cli.fake_engine import FakeEngine, ago, cr, second_engine
from tests.unit.cli.test_status import in_s


def member(replica: str, shards: list[int], **facts: Any) -> Json:
    reported = {
        "self": False,
        "leaving": False,
        "version": "1",
        "tenure": "a",
        "runs_per_minute": 2.5,
    }
    return {"replica": replica, "weight": 4, "shards": shards, "seen": ago(0), **reported, **facts}


def shards(*members: Json, unheld: list[Json] | None = None, why_not: str = "") -> Json:
    return {"count": 8, "members": list(members), "unheld": unheld or [], "why_not": why_not}


def had(name: str, replica: str, state: str = "ready", shard: int = 0) -> Json:
    return cr(name, state, replica=replica, shard=shard)


def test_each_replica_has_a_row_with_what_it_has(engine: FakeEngine) -> None:
    engine.divide("web-0", 5)
    engine.shards = shards(
        member("web-0", [0, 1, 2, 5, 7], self=True),
        member("web-1", [3, 4], leaving=True, seen=in_s(60)),
        member("web-2", [6], seen=ago(7300)),
    )
    said = engine.rolecall("status", "--shards")
    head, own, other, silent, last = said.stdout.splitlines()
    assert head.split() == ["REPLICA", "WEIGHT", "SHARDS", "RUNS/MIN", "SEEN", "STATE", "WHICH"]
    assert own.split()[:5] == ["web-0", "(asked)", "4", "5", "2.5"]
    assert own.split()[-1] == "0-2,5,7"
    assert other.split() == ["web-1", "4", "2", "2.5", "0s", "ago", "leaving", "3-4"]
    assert silent.split() == ["web-2", "4", "1", "2.5", "2h1m", "ago", "silent", "6"]
    assert last == "each of the 8 shards has a replica"
    assert said.stderr.startswith("engine of this machine (process 71) has 5 of 4 shards, ")


def test_shards_without_a_replica_are_reported_with_their_ages(engine: FakeEngine) -> None:
    engine.divide("web-0", 5)
    gaps = [
        {"shard": shard, "since": ago(age)} for shard, age in ((3, 7300), (4, 7300), (6, 18200))
    ]
    engine.shards = shards(member("web-0", [0, 1, 2, 5, 7], self=True), unheld=gaps)
    said = engine.rolecall("status", "--shards").stdout
    assert "3 of 8 shards have no replica, so their CRs wait: 3-4 for 2h1m; 6 for 5h3m" in said


def test_problem_of_the_lease_is_reported(engine: FakeEngine) -> None:
    engine.divide("web-0", 0)
    gaps = [{"shard": shard, "since": ago(60)} for shard in range(8)]
    engine.shards = shards(why_not="replica `old` works without shards", unheld=gaps)
    said = engine.rolecall("status", "--shards")
    assert said.returncode == 0
    assert said.stdout == "no replica is known to live\n", "`old` works on their CRs"
    assert "no shard is taken: replica `old` works without shards" in said.stderr


def test_json_has_the_engine_and_its_shards(engine: FakeEngine) -> None:
    engine.divide("web-0", 5)
    engine.shards = shards(member("web-0", [0]))
    found = json.loads(engine.rolecall("status", "--shards", "-o", "json").stdout)
    assert found["shards"] == engine.shards
    assert found["engine"]["shards"]["replica"] == "web-0"


def test_engine_without_shards_says_that_it_has_all_crs(engine: FakeEngine) -> None:
    said = engine.rolecall("status", "--shards")
    assert (said.returncode, said.stdout.startswith("no shards: this engine has all CRs")) == (
        0,
        True,
    )
    found = json.loads(engine.rolecall("status", "--shards", "-o", "json").stdout)
    assert found["shards"] is None
    engine.facts = {"leads": False}
    assert "does not lead" in engine.rolecall("status", "--shards").stdout


def test_shards_of_one_cr_are_no_question(engine: FakeEngine) -> None:
    said = engine.rolecall("status", "website/shop", "--shards")
    assert (said.returncode, "says which replica has one" in said.stderr) == (2, True)


def test_cr_says_who_has_it(engine: FakeEngine) -> None:
    engine.divide("web-0", 2)
    engine.crs = [had("shop", "web-0"), had("blog", "web-1", "unknown"), had("lost", "", "unknown")]
    rows = [line.split() for line in engine.rolecall("status").stdout.splitlines()]
    assert rows[0][-1] == "REPLICA"
    assert [row[-1] for row in rows[1:]] == ["web-1", "-", "web-0"]
    blog = engine.rolecall("status", "website/blog").stdout
    lost = engine.rolecall("status", "website/lost").stdout
    assert "replica `web-1` has its shard, 0" in blog
    assert "its shard, 0, has no holder now" in lost


def test_runs_of_another_replicas_cr_are_reported_as_old(engine: FakeEngine) -> None:
    engine.divide("web-0", 2)
    engine.crs = [had("shop", "web-0"), had("blog", "web-1", "unknown")]
    for name in ("shop", "blog"):
        engine.keep_run(name, "8345", outcome="succeeded")
    assert "runs from before" not in engine.rolecall("runs", "website/shop").stderr
    said = engine.rolecall("runs", "website/blog")
    assert "`web-1` has its shard, 0; here are only runs from before" in said.stderr
    assert "8345" in said.stdout


def test_engines_on_one_folder_are_shown_as_one(engine: FakeEngine) -> None:
    engine.divide("web-0", 2, pid=71)
    engine.crs = [had("shop", "web-0", "failed"), had("blog", "web-1", "unknown")]
    with second_engine(engine) as second:
        second.divide("web-1", 2, pid=72)
        second.crs = [had("shop", "web-0", "unknown"), had("blog", "web-1", "running")]
        said = engine.rolecall("status", "-o", "json")
        watched = engine.rolecall("status", "-w")
    found = json.loads(said.stdout)
    assert {each["name"]: each["state"] for each in found["crs"]} == {
        "shop": "failed",
        "blog": "running",
    }
    assert found["engine"]["shards"]["replicas"] == ["web-0", "web-1"]
    assert said.stderr.startswith(
        "2 engines of this machine (processes 71, 72) have 4 of 4 shards, cluster "
    )
    assert "2 engines divide the CRs; this is what `web-0` sees" in watched.stderr


def test_reconcile_reaches_the_engine_that_has_the_cr(engine: FakeEngine) -> None:
    engine.divide("web-0", 2)
    with second_engine(engine) as second:
        second.divide("web-1", 2)
        engine.crs = second.crs = [had("shop", "web-0"), had("blog", "web-1")]
        engine.answer = (202, {"keys": ["Website default/shop"]})
        second.answer = (202, {"keys": ["Website default/blog"]})
        one = engine.rolecall("reconcile", "website/blog")
        every = engine.rolecall("reconcile", "--all")
    assert one.stdout == "Website default/blog: will be reconciled now\n"
    assert [each["name"] for each in second.asked[:1]] == ["blog"]
    assert (engine.asked, second.asked[1:]) == ([{"all": True}], [{"all": True}])
    assert every.stdout.splitlines() == [
        "Website default/blog: will be reconciled now",
        "Website default/shop: will be reconciled now",
    ]


def test_usage_says_that_it_is_of_one_replica(engine: FakeEngine) -> None:
    engine.divide("web-0", 3)
    assert "has 3 of 4 shards now" in engine.rolecall("usage").stderr
    engine.divide("web-0", 4)
    assert "shards now" not in engine.rolecall("usage").stderr
