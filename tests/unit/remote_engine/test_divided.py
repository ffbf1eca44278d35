"""Which of the pods that divide the CRs is asked, and what is said of that."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rolecall.extensions.console.blame import BlamedObject, CrName, FoundWrites, Write
from rolecall.extensions.console.commands.blame_runs import find_writes
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Channel
from rolecall.workqueue import Key, part_of
from tests.unit.remote_engine.fake_cluster import (
    FakeCluster,
    fake_cluster,
    lease,
    pod,
    shard_leases,
)
from tests.unit.remote_engine.test_relay import environ, rolecall

COUNT = 8
SHOP = part_of(Key(Gvk("example.com", "v1", "Website"), "default", "shop"), COUNT)
REST = [shard for shard in range(COUNT) if shard != SHOP]


def website(name: str, namespace: str = "default") -> Json:
    return {"metadata": {"name": name, "namespace": namespace}}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    with fake_cluster(tmp_path) as found:
        found.objects["pods"] = [pod("web-0"), pod("web-1")]
        found.objects["leases"] = shard_leases(COUNT, {"web-0": REST, "web-1": [SHOP]})
        found.objects["websites"] = [website("shop"), website("blog", "other")]
        yield found


def asked(cluster: FakeCluster) -> list[str]:
    return [name for name, _ in cluster.commands]


@pytest.mark.parametrize(
    "words",
    [
        ("logs", "website/shop"),
        ("runs", "websites/shop", "-n", "default"),
        ("status", "website.example.com/shop"),
        ("reconcile", "Website/shop"),
    ],
)
def test_pod_with_the_shard_of_the_cr_is_asked(cluster: FakeCluster, words: list[str]) -> None:
    said = rolecall(cluster, *words)
    assert asked(cluster) == ["web-1"]
    assert (
        f"engine of pod ops/web-1 has shard {SHOP} of 8, in which this CR is (operator web, 2 pods)"
        in said.stderr
    )


@pytest.mark.parametrize("what", ["website/none", "nokind/shop", "website/twice"])
def test_cr_that_is_not_known_is_asked_for_somewhere(cluster: FakeCluster, what: str) -> None:
    cluster.objects["websites"] += [website("twice"), website("twice", "other")]
    said = rolecall(cluster, "status", what)
    assert asked(cluster) == ["web-0"]
    assert "engine of pod ops/web-0 has 7 of 8 shards" in said.stderr


def test_who_may_not_list_the_crs_says_the_namespace(cluster: FakeCluster) -> None:
    cluster.forbidden = {"websites"}
    rolecall(cluster, "logs", "website/shop")
    rolecall(cluster, "logs", "website/shop", "-n", "default")
    assert asked(cluster) == ["web-0", "web-1"]


def test_shard_of_a_dead_replica_is_reported_without_a_holder(cluster: FakeCluster) -> None:
    held = {"web-0": REST, "web-1": [SHOP]}
    cluster.objects["leases"] = shard_leases(COUNT, held, ended=["web-1"])
    said = rolecall(cluster, "status", "website/shop")
    assert asked(cluster) == ["web-0"]
    assert f"was chosen: shard {SHOP} of 8, in which this CR is, has no holder" in said.stderr


def test_holder_that_is_no_pod_is_named(cluster: FakeCluster) -> None:
    cluster.objects["leases"] = shard_leases(COUNT, {"web-0": REST, "laptop": [SHOP]})
    said = rolecall(cluster, "status", "website/shop")
    assert asked(cluster) == ["web-0"]
    assert (
        f"was chosen: shard {SHOP} of 8, in which this CR is, has its holder, `laptop`"
        in said.stderr
    )


def test_leader_of_the_mode_lease_leads_though_members_wait_beside(cluster: FakeCluster) -> None:
    waiting = shard_leases(COUNT, {"web-0": []})[1:]
    cluster.objects["leases"] = [*waiting, lease("web-1")]
    said = rolecall(cluster, "status")
    assert asked(cluster) == ["web-1"]
    assert "engine of pod ops/web-1 leads" in said.stderr


def test_shards_are_shown_by_the_next_pod_where_one_does_not_answer(cluster: FakeCluster) -> None:
    cluster.broken = {"web-0"}
    cluster.says = [(Channel.STDOUT, b"REPLICA\n")]
    said = rolecall(cluster, "status", "--shards")
    assert asked(cluster) == ["web-0", "web-1"]
    assert (said.stdout, said.returncode) == ("REPLICA\n", 0)
    assert "pod web-0 did not answer" in said.stderr


def state(replica: str, **crs: tuple[str, str]) -> list[tuple[Channel, bytes]]:
    """What a pod says of CRs, by name: who has them, and how they are."""
    rows = [
        {
            "kind": "Website",
            "api_version": "example.com/v1",
            "namespace": "default",
            "name": name,
            "state": how,
            "shard": 1,
            "replica": who,
        }
        for name, (who, how) in crs.items()
    ]
    shards = {"count": COUNT, "held": 4, "replica": replica}
    watches = [{"kind": "Website", "api_version": "example.com/v1", "plural": "websites"}]
    engine = {"version": "1", "pid": 1, "leads": True, "shards": shards, "watches": watches}
    return [(Channel.STDOUT, json.dumps({"engine": engine, "crs": rows}).encode())]


def test_overview_is_put_together_of_what_each_pod_knows(cluster: FakeCluster) -> None:
    cluster.pods_say = {
        "web-0": state("web-0", shop=("web-1", "unknown"), blog=("web-0", "failed")),
        "web-1": state("web-1", shop=("web-1", "running"), blog=("web-0", "unknown")),
    }
    said = rolecall(cluster, "status", "website")
    rows = {line.split()[1]: line.split()[2] for line in said.stdout.splitlines()[1:]}
    assert rows == {"website/shop": "running", "website/blog": "failed"}
    assert sorted(asked(cluster)) == ["web-0", "web-1"]
    assert "2 engines of operator ops/web divide the CRs: web-0, web-1" in said.stderr


def test_state_that_no_pod_reports_is_shown_as_unknown(cluster: FakeCluster) -> None:
    cluster.pods_say = {
        "web-0": state("web-0", shop=("web-1", "unknown"), blog=("web-0", "failed"))
    }
    cluster.broken = {"web-1"}
    said = rolecall(cluster, "status", "-o", "json")
    crs = {cr["name"]: cr["state"] for cr in json.loads(said.stdout)["crs"]}
    assert crs == {"shop": "unknown", "blog": "failed"}
    assert "pod web-1 did not answer for its part of the CRs" in said.stderr


def test_where_no_pod_answers_nothing_is_shown(cluster: FakeCluster) -> None:
    cluster.broken = {"web-0", "web-1"}
    said = rolecall(cluster, "status")
    assert (said.returncode, said.stdout) == (3, "")


def test_reconcile_of_all_reaches_each_pod(cluster: FakeCluster) -> None:
    for name in ("web-0", "web-1"):
        answer = json.dumps({"keys": [f"Website default/of-{name}"], "paused": []}).encode()
        cluster.pods_say[name] = [(Channel.STDOUT, answer)]
    said = rolecall(cluster, "reconcile", "website", "--all")
    assert said.stdout.splitlines() == [
        "Website default/of-web-0: will be reconciled now",
        "Website default/of-web-1: will be reconciled now",
    ]
    words = [words[-6:] for _, words in cluster.commands]
    assert words == [["rolecall", "reconcile", "website", "--all", "-o", "json"]] * 2


def found_writes(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> FoundWrites:
    """What `rolecall blame` learns of the runs that wrote one object."""
    for name, value in environ(cluster).items():
        monkeypatch.setenv(name, value)
    arguments = Namespace(operator="ops/web", artifacts_dir=None, typed=["blame", "pod", "x"])
    target = BlamedObject("", "pods", "default", "x")
    return find_writes(arguments, target, [CrName("Website", "example.com", "default", "shop")])


def kept(run: str, minute: int) -> list[tuple[Channel, bytes]]:
    at = datetime(2026, 11, 25, 12, minute, tzinfo=UTC)
    write = Write("website/shop", run, at, at, "create", "", "", "m", (), "make it", "x.yml:1")
    found = FoundWrites([write], runs=2, crs=["website/shop"])
    return [(Channel.STDOUT, json.dumps(found.as_json()).encode())]


def test_blame_takes_the_runs_of_all_that_had_the_cr(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.pods_say = {"web-0": kept("old", 1), "web-1": kept("new", 5)}
    found = found_writes(cluster, monkeypatch)
    assert [write.run for write in found.writes] == ["new", "old"]
    assert (found.runs, found.crs, found.failure) == (4, ["website/shop"], "")


def test_blame_asks_the_leader_alone_where_there_is_one(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.objects["leases"] = [lease("web-1")]
    cluster.pods_say = {"web-1": kept("new", 5)}
    assert [write.run for write in found_writes(cluster, monkeypatch).writes] == ["new"]
    assert asked(cluster) == ["web-1"]
    cluster.pods_say = {"web-1": [(Channel.STDOUT, b"no JSON")]}
    assert found_writes(cluster, monkeypatch).failure
