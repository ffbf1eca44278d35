"""Replicas that are killed, frozen, cut off, replaced and robbed of Leases: never two write for a CR.

`make dice MINUTES=60 SEED=7` plays longer, with five replicas and a thousand CRs.

Held to a time is how long the Lease of a shard names no live replica. How long an edit waits for its
run is printed, and held to nothing: slots of a busy machine are in it, and so is a replica that is too
slow to renew in time, loses its shards to no other, and takes them again; its CRs begin anew then.
Not thrown: a line on which only one direction is dead, and a clock that is set.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.workqueue import Key, part_of
from rolecall_dev.localcluster import Binaries, Cluster, Wanted, temporary_cluster
from tests.e2e.kinds import CONFIG_MAP, is_successful
from tests.e2e.shards.game import LEASE, ROLLED, Game
from tests.e2e.shards.replicas import ELECTION, LEASE_S, SHARDS
from tests.e2e.shards.witness import (
    POLICY,
    Hold,
    Mark,
    holds_of,
    marks_in,
    overlaps,
    strange_writes,
    writes_in,
)
from tests.fixtures.cluster import unique_name
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually_async

MINUTES = float(os.environ.get("DICE_MINUTES") or 1.5)
SEED = int(os.environ.get("DICE_SEED") or 21)
IS_LONG = MINUTES > 5
REPLICAS, CRS = (5, 1000) if IS_LONG else (3, 60)
NAMESPACE = "dice"
MOST_S = LEASE_S + 5
PATIENCE_S = 1800 if IS_LONG else 240


@pytest.fixture
def cluster(binaries: Binaries, tmp_path: Path) -> Iterator[Cluster]:
    """One whose API server writes down who wrote what."""
    policy, log = tmp_path / "policy.json", tmp_path / "audit.log"
    policy.write_text(json.dumps(POLICY))
    with temporary_cluster(Wanted(name=unique_name()), binaries) as found:
        found.apiserver.stop()
        found.apiserver.start(
            more={
                "audit-policy-file": str(policy),
                "audit-log-path": str(log),
                "audit-log-mode": "blocking",
            }
        )
        found.kubectl("create", "namespace", NAMESPACE)
        yield found


@pytest.mark.nightly
async def test_two_replicas_never_write_for_one_cr_whatever_befalls_them(
    cluster: Cluster, api: Client, tmp_path: Path
) -> None:
    (marks := tmp_path / "marks").mkdir()
    await install(api, crd_for(ROLLED))
    names = [f"cr-{number}" for number in range(CRS)]
    rng = random.Random(SEED)
    game = Game(cluster, api, NAMESPACE, marks, rng, REPLICAS, names)
    try:
        await game.begin()
        await all_arrive(api)
        await game.play(MINUTES * 60)
        await all_arrive(api)
        at_last = await eventually_async(
            lambda: holders(api), lambda found: len(found) == SHARDS and all(found.values())
        )
        notes = {
            each["metadata"]["name"]: each["data"]["note"]
            for each in await api.list_all(CONFIG_MAP, NAMESPACE)
            if "note" in each.get("data", {})
        }
    finally:
        for player in game.all_players:
            player.close()
        await asyncio.get_running_loop().shutdown_default_executor()
    crs = {each["metadata"]["name"]: each for each in await api.list_all(ROLLED, NAMESPACE)}
    writes = writes_in(tmp_path / "audit.log", NAMESPACE)
    holds = holds_of(writes, ELECTION)
    shards = {name: part_of(Key(ROLLED, NAMESPACE, name), SHARDS) for name in names}
    of_files = {name: marks_in(marks / name) for name in names}
    gaps, waits = waits_for_holders(game, holds), waits_of_edits(game, of_files)
    unlike = {name for name in names if notes.get(name) != f"note {crs[name]['spec']['note']}"}
    invariants = {
        "writes for a CR by who had not its shard": strange_writes(writes, holds, shards),
        "marks of a run after another began": [
            wrong for found in of_files.values() for wrong in overlaps(found)
        ],
        "CRs whose last edit did not arrive": sorted(unlike),
        f"shards that waited for a holder for more than {MOST_S:g} s": [
            f"{shard} after {whom}: {gap:.1f} s" for gap, shard, whom in gaps if gap > MOST_S
        ],
        "shards without a holder in the end": [
            str(shard) for shard in range(SHARDS) if not at_last.get(shard)
        ],
    }
    handed = sum(len(history) for history in holds.values())
    print(
        f"seed {SEED}: {len(game.throws)} throws, {len(game.all_players)} replicas, {CRS} CRs,"
        f" {len(game.edits)} edits, {sum(map(len, of_files.values()))} marks, {len(writes)} writes,"
        f" {handed} of shard Leases; longest without a holder {max(gaps)[0]:.1f} s; edits waited"
        f" {statistics.median(waits):.1f} s, {max(waits):.1f} s at most, also for slots of this machine"
    )
    for what, wrong in invariants.items():
        print(f"{len(wrong):4} {what} {wrong[:5] or ''}")
    assert game.throws
    assert handed > SHARDS
    assert not any(invariants.values()), invariants


async def all_arrive(api: Client) -> None:
    """Wait until each CR is as its last edit wants it."""

    async def are_all() -> bool:
        return all(map(is_successful_at_last, await api.list_all(ROLLED, NAMESPACE)))

    await eventually_async(are_all, timeout_s=PATIENCE_S)


async def holders(api: Client) -> dict[int, str]:
    """Of each shard, as its Lease says."""
    prefix = f"{ELECTION}-shard-"
    return {
        int(lease["metadata"]["name"].removeprefix(prefix)): lease["spec"].get("holderIdentity", "")
        for lease in await api.list_all(LEASE, NAMESPACE)
        if lease["metadata"]["name"].startswith(prefix)
    }


def is_successful_at_last(cr: Json) -> bool:
    """Of the last edit, that is."""
    seen = cr.get("status", {}).get("observedGeneration", 0)
    return is_successful(cr) and seen == cr["metadata"]["generation"]


def waits_for_holders(game: Game, holds: dict[int, list[Hold]]) -> list[tuple[float, int, str]]:
    """How long each shard had no live holder: after it was given back, and after its holder was lost.

    Where another replica was lost meanwhile, which might have been to follow, it counts from then on.
    """
    lost = [throw for throw in game.throws if throw.takes_shards]
    found = []
    for shard, history in holds.items():
        moments = [(hold.at, "") for hold in history if not hold.who]
        for throw in lost:
            past = [hold.who for hold in history if hold.at <= throw.began]
            if past and past[-1] == throw.whom:
                moments.append((throw.began, throw.whom))
        for moment, whom in moments:
            taken = [hold for hold in history if hold.at > moment and hold.who]
            if taken:
                between = [throw.began for throw in lost if moment < throw.began < taken[0].at]
                since = max([moment, *between])
                found.append((taken[0].at - since, shard, whom or "given back"))
    return found


def waits_of_edits(game: Game, marks: dict[str, list[Mark]]) -> list[float]:
    """How long each edit waited for a run that knew it, whatever happened meanwhile."""
    found = []
    for name, note, edited in game.edits:
        begins = [mark.at for mark in marks[name] if mark.word == "begin" and mark.note >= note]
        if begins:
            found.append(min(begins) - edited)
    return found
