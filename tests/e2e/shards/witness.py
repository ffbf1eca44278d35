"""What the world says of a game of dice: files of marks, and the audit log of the API server.

Promise: says of each CR whether two replicas ever wrote for it at a time. Files are read in the order
in which marks were appended, the audit log in that of resource versions, so no clock is trusted for it.

A write belongs to a replica by its ServiceAccount. From the write by which one takes a shard to that
by which it gives it back, or another takes it, it alone may write for the shard's CRs. What a user did
to Leases by hand counts for nothing here: a holder that has not noticed yet may write.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rolecall.json_object import Json

POLICY: Json = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {
            "level": "RequestResponse",
            "verbs": ["create", "update", "patch", "delete"],
            "resources": [
                {"group": "", "resources": ["configmaps"]},
                {"group": "e2e.rolecall.dev"},
                {"group": "coordination.k8s.io", "resources": ["leases"]},
            ],
        },
        {"level": "None"},
    ],
}


@dataclass(frozen=True)
class Write:
    """One that the API server took from a replica."""

    version: int
    at: float
    who: str
    resource: str
    name: str
    holder: str = ""


@dataclass(frozen=True)
class Mark:
    """A line that a run appended."""

    word: str
    replica: str
    run: str
    note: int
    at: float


@dataclass(frozen=True)
class Hold:
    """From when on a replica had a shard; without a name: it was given back."""

    version: int
    at: float
    who: str


def writes_in(log: Path, namespace: str) -> list[Write]:
    """Those of replicas, in the order in which they were stored."""
    found = [_write(json.loads(line)) for line in log.read_text().splitlines() if namespace in line]
    return sorted((write for write in found if write), key=lambda write: write.version)


def _write(row: Json) -> Write | None:
    account = row["user"]["username"]
    stored = row.get("responseObject") or {}
    version = stored.get("metadata", {}).get("resourceVersion")
    is_taken = row["responseStatus"]["code"] < 300
    if not (account.startswith("system:serviceaccount:") and is_taken and version):
        return None
    return Write(
        int(version),
        datetime.fromisoformat(row["stageTimestamp"]).timestamp(),
        account.rpartition(":")[2],
        row["objectRef"]["resource"],
        row["objectRef"]["name"] if "name" in row["objectRef"] else stored["metadata"]["name"],
        str(stored.get("spec", {}).get("holderIdentity") or "") if "spec" in stored else "",
    )


def holds_of(writes: Iterable[Write], election: str) -> dict[int, list[Hold]]:
    """Who had each shard, from when on."""
    found: dict[int, list[Hold]] = defaultdict(list)
    prefix = f"{election}-shard-"
    for write in writes:
        if write.resource == "leases" and write.name.startswith(prefix):
            shard = int(write.name.removeprefix(prefix))
            found[shard].append(Hold(write.version, write.at, write.who if write.holder else ""))
    return found


def strange_writes(
    writes: Iterable[Write], holds: Mapping[int, list[Hold]], shards: Mapping[str, int]
) -> list[str]:
    """Writes for a CR by a replica that did not have its shard."""
    wrong = []
    for write in writes:
        shard = shards.get(write.name)
        if write.resource == "leases" or shard is None:
            continue
        history = holds.get(shard, [])
        place = bisect_right([hold.version for hold in history], write.version)
        holder = history[place - 1].who if place else ""
        if holder != write.who:
            wrong.append(
                f"{write.resource}/{write.name} at {write.version} by {write.who},"
                f" shard {shard} is of {holder or 'none'}"
            )
    return wrong


def marks_in(file: Path) -> list[Mark]:
    """In the order in which they were appended."""
    rows = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
    return [Mark(word, who, run, int(note), float(at)) for word, who, run, note, at in rows]


def overlaps(marks: Iterable[Mark]) -> list[str]:
    """Marks of a run after another one began."""
    wrong, current = [], ""
    for mark in marks:
        if mark.word == "begin":
            current = mark.run
        elif mark.run != current:
            wrong.append(f"{mark} although {current} began since")
    return wrong
