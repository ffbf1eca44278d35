"""Replicas that are killed, frozen, cut off, replaced and robbed of Leases: never two write for a CR.

`make dice MINUTES=60 SEED=7` plays longer, with five replicas and a thousand CRs.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.shards import shard_of
from rolecall.workqueue import Key
from rolecall_dev.localcluster import Binaries, Cluster, Wanted, temporary_cluster
from tests.e2e.kinds import CONFIG_MAP, install, is_successful
from tests.e2e.shards.game import ROLLED, Game
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
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually_async

MINUTES = float(os.environ.get("DICE_MINUTES") or 1.5)
SEED = int(os.environ.get("DICE_SEED") or 21)
IS_LONG = MINUTES > 5
REPLICAS, CRS = (5, 1000) if IS_LONG else (3, 60)
NAMESPACE = "dice"
MOST_S = LEASE_S + 5


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
        await game.play(MINUTES * 60)
        for name in names:
            await eventually_async(
                lambda name=name: api.get(ROLLED, NAMESPACE, name), is_successful_at_last
            )
        notes = {
            each["metadata"]["name"]: each["data"]["note"]
            for each in await api.list_all(CONFIG_MAP, NAMESPACE)
            if "note" in each.get("data", {})
        }
    finally:
        for player in game.everybody:
            player.close()
    crs = {each["metadata"]["name"]: each for each in await api.list_all(ROLLED, NAMESPACE)}
    writes = writes_in(tmp_path / "audit.log", NAMESPACE)
    holds = holds_of(writes, ELECTION)
    shards = {name: shard_of(Key(ROLLED, NAMESPACE, name), SHARDS) for name in names}
    of_files = {name: marks_in(marks / name) for name in names}
    waits = waits_of(game, of_files, holds, shards)
    unlike = {name for name in names if notes.get(name) != str(crs[name]["spec"]["note"])}
    invariants = {
        "writes for a CR by who had not its shard": strange_writes(writes, holds, shards),
        "marks of a run after another began": [
            wrong for found in of_files.values() for wrong in overlaps(found)
        ],
        "CRs whose last edit did not arrive": sorted(unlike),
        f"edits that waited for more than {MOST_S:g} s": [
            f"{name} {note}: {wait:.1f} s" for wait, name, note in waits if wait > MOST_S
        ],
    }
    handed = sum(len(history) for history in holds.values())
    print(
        f"seed {SEED}: {len(game.throws)} throws, {len(game.everybody)} replicas, {CRS} CRs,"
        f" {len(game.edits)} edits, {sum(map(len, of_files.values()))} marks, {len(writes)} writes,"
        f" {handed} of shard Leases; longest wait {max(waits)[0]:.1f} s"
    )
    for what, wrong in invariants.items():
        print(f"{len(wrong):4} {what} {wrong[:5] or ''}")
    assert game.throws
    assert handed > SHARDS
    assert not any(invariants.values()), invariants


def is_successful_at_last(cr: Json) -> bool:
    """Of the last edit, that is."""
    seen = cr.get("status", {}).get("observedGeneration", 0)
    return is_successful(cr) and seen == cr["metadata"]["generation"]


def waits_of(
    game: Game,
    marks: dict[str, list[Mark]],
    holds: dict[int, list[Hold]],
    shards: dict[str, int],
) -> list[tuple[float, str, int]]:
    """How long each edit waited for a run that knew it, since the last throw that concerned it."""
    found = []
    for name, note, edited in game.edits:
        begins = [mark for mark in marks[name] if mark.word == "begin" and mark.note >= note]
        if not begins:
            continue  # another invariant tells
        run_at = min(mark.at for mark in begins)
        since = max([edited, *concerning(game, holds.get(shards[name], []), edited, run_at)])
        found.append((run_at - since, name, note))
    return found


def concerning(game: Game, history: list[Hold], after: float, before: float) -> list[float]:
    """When something befell the replica that had the shard, or Leases were taken away by hand."""
    moments = []
    for throw in game.throws:
        is_manual = throw.what.endswith("lease")
        for moment in (throw.began, throw.ended):
            past = [hold.who for hold in history if hold.at <= moment]
            is_holder = bool(past) and past[-1] == throw.whom
            if after <= moment <= before and (is_manual or is_holder):
                moments.append(moment)
    return moments
