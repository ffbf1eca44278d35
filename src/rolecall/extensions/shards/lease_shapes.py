"""The Leases of shards as data: read out of whatever the API server lists, and what is written next.

Promise: reading never fails. People and tools write into Leases; what makes no sense is a record that
says so (`is_sound`, no holder), and each reader of it errs on the side of waiting. Nothing here talks
to a server or knows the time.

Members are identified by their tenure, a random word, and not by their host: a pod may restart, and two
replicas may have the same name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from rolecall.clock import time_text
from rolecall.election import (
    LEASE,
    Division,
    duration_of,
    holder_of,
    new_lease,
    released,
    renewed,
    taken,
)
from rolecall.json_object import Json, as_map

# The flag that asks for shards, and the first word of the holder of the Lease that all replicas know.
WAY = "shards"
SHARDS_LABEL = "rolecall.dev/shards-of"
COUNT = "rolecall.dev/shards"
WEIGHT = "rolecall.dev/weight"
LEAVING = "rolecall.dev/leaving"
RATE = "rolecall.dev/runs-per-minute"
RELEASE = "rolecall.dev/version"
WATCHED = "rolecall.dev/watched"
ENDED = "rolecall.dev/ended"
RELEASED_BY = "rolecall.dev/released-by"

# No replica uses a longer lease: a higher value is a mistake, and must not block a shard for hours.
_LONGEST_S = 3600.0
_LONGEST_LABEL = 63
_HEAVIEST = 1_000_000
_TENURE = re.compile(r"[a-z0-9]+")

# What only a new holder changes about a Lease: by it a holder knows its own write again.
ClaimMark = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Naming:
    """How the Leases of one operator are called."""

    id: str
    namespace: str
    count: int
    watched: str = ""  # a digest of which CRs replicas watch

    @property
    def mode_text(self) -> str:
        """Who holds the Lease that all replicas know: those that divide the same CRs as this one."""
        return str(Division(WAY, str(self.count), self.watched))

    @property
    def label(self) -> str:
        """The label's value; an id may be longer than a label."""
        if len(self.id) <= _LONGEST_LABEL:
            return self.id
        return hashlib.sha256(self.id.encode()).hexdigest()[:40]

    @property
    def selector(self) -> str:
        return f"{SHARDS_LABEL}={self.label}"

    def member(self, tenure: str) -> str:
        return f"{self.id}-member-{tenure}"

    def shard(self, shard: int) -> str:
        return f"{self.id}-shard-{shard:02d}"

    def tenure_in(self, name: str) -> str:
        """The tenure that a Lease is the member Lease of; empty: it is none."""
        tenure = name.removeprefix(f"{self.id}-member-")
        return tenure if tenure != name and _TENURE.fullmatch(tenure) else ""

    def shard_in(self, name: str) -> int | None:
        number = name.removeprefix(f"{self.id}-shard-")
        if number == name or not (number.isascii() and number.isdigit()):
            return None
        shard = int(number[:9])
        return shard if shard < self.count and name == self.shard(shard) else None


@dataclass(frozen=True, slots=True)
class MemberRecord:
    """A member Lease as it was listed."""

    tenure: str
    host: str
    lease: Json = field(compare=False)
    is_sound: bool  # its holder is the member that it is named for
    is_ended: bool  # the tenure is over, and never comes back
    is_leaving: bool
    count: int
    weight: int
    runs_per_min: float
    release: str
    watched: str = ""  # a digest of which CRs it watches

    @property
    def version(self) -> str:
        return version_of(self.lease)

    @property
    def lasts_s(self) -> float:
        return lasts_s(self.lease)


@dataclass(frozen=True, slots=True)
class ShardRecord:
    """A shard Lease as it was listed."""

    shard: int
    holder: str
    tenure: str  # of its holder; empty: it names none
    is_released: bool  # by its holder, at these many shards
    count: int
    lease: Json = field(compare=False)

    @property
    def version(self) -> str:
        return version_of(self.lease)

    @property
    def mark(self) -> ClaimMark:
        return mark_of(self.lease)

    @property
    def lasts_s(self) -> float:
        return lasts_s(self.lease)


@dataclass(frozen=True, slots=True)
class Listed:
    """All labelled Leases of one moment."""

    members: Mapping[str, MemberRecord] = field(default_factory=dict)
    shards: Mapping[int, ShardRecord] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profile:
    """What a member publishes about itself in its Lease."""

    host: str
    weight: int
    count: int
    release: str
    is_leaving: bool = False
    runs_per_min: float = 0.0
    watched: str = ""  # a digest of which CRs it watches


def read_leases(leases: Iterable[Json], naming: Naming) -> Listed:
    """The Leases that our naming knows; other objects with the label are ignored."""
    members: dict[str, MemberRecord] = {}
    shards: dict[int, ShardRecord] = {}
    for lease in leases:
        name = name_of(lease)
        if tenure := naming.tenure_in(name):
            members[tenure] = read_member(tenure, lease)
        elif (shard := naming.shard_in(name)) is not None:
            shards[shard] = _read_shard(shard, lease, naming.count)
    return Listed(members, shards)


def read_member(tenure: str, lease: Json) -> MemberRecord:
    host, _, named = holder_of(lease).rpartition("_")
    said = annotations_of(lease)
    return MemberRecord(
        tenure,
        host,
        lease,
        is_sound=named == tenure,
        is_ended=bool(said.get(ENDED)) and not holder_of(lease),
        is_leaving=said.get(LEAVING) == "true",
        count=_whole(said.get(COUNT), 0),
        weight=_whole(said.get(WEIGHT), 1) or 1,
        runs_per_min=_number(said.get(RATE)),
        release=str(said.get(RELEASE) or ""),
        watched=str(said.get(WATCHED) or ""),
    )


def _read_shard(shard: int, lease: Json, count: int) -> ShardRecord:
    holder = holder_of(lease)
    said = annotations_of(lease)
    listed_count = _whole(said.get(COUNT), 0)
    is_released = not holder and bool(said.get(RELEASED_BY)) and listed_count == count
    tenure = holder.rpartition("_")[2]
    return ShardRecord(shard, holder, tenure, is_released, listed_count, lease)


def member_lease(
    naming: Naming, tenure: str, profile: Profile, seconds: float, now: datetime
) -> Json:
    """The first version of a member's Lease."""
    holder = holder_text(profile.host, tenure)
    lease = new_lease(naming.namespace, naming.member(tenure), holder, seconds, now)
    return _labelled(lease, naming, **_said(profile))


def renewed_member(lease: Json, naming: Naming, profile: Profile, now: datetime) -> Json:
    return _labelled(renewed(lease, now), naming, **_said(profile))


def ended_member(lease: Json, naming: Naming, by: str, now: datetime) -> Json:
    """The version after which its tenure is over for all replicas: a tombstone."""
    ended = f"by {by} at {time_text(now)}"
    return _labelled(released(lease, now), naming, **{ENDED: ended})


def unheld_shard(naming: Naming, shard: int, seconds: float, now: datetime) -> Json:
    """The first version of a shard's Lease: without a holder, but not marked as free.

    A missing Lease may have existed a moment ago with a holder; an existing Lease with the same version
    proves that it did not change. So a member creates a Lease first, observes it for a whole lease, and
    then takes it.
    """
    lease = new_lease(naming.namespace, naming.shard(shard), "", seconds, now)
    return _labelled(lease, naming, **{COUNT: str(naming.count)})


def taken_shard(
    record: ShardRecord, naming: Naming, holder: str, seconds: float, now: datetime
) -> Json:
    lease = taken(record.lease, holder, seconds, now)
    return _labelled(lease, naming, **{COUNT: str(naming.count), RELEASED_BY: None})


def released_shard(lease: Json, naming: Naming, tenure: str, now: datetime) -> Json:
    lease = released(lease, now)
    return _labelled(lease, naming, **{COUNT: str(naming.count), RELEASED_BY: tenure})


def holder_text(host: str, tenure: str) -> str:
    return f"{host}_{tenure}"


def version_of(lease: Json) -> str:
    return str(_metadata(lease).get("resourceVersion") or "")


def uid_of(lease: Json) -> str:
    return str(_metadata(lease).get("uid") or "")


def mark_of(lease: Json) -> ClaimMark:
    spec = as_map(lease.get("spec"))
    return (
        holder_of(lease),
        str(spec.get("acquireTime") or ""),
        _whole(spec.get("leaseTransitions"), 0),
    )


def lasts_s(lease: Json) -> float:
    """How long its holder may be silent, as far as that makes sense."""
    return min(max(duration_of(lease), 0.0), _LONGEST_S)


def _said(profile: Profile) -> dict[str, str | None]:
    return {
        COUNT: str(profile.count),
        WEIGHT: str(profile.weight),
        LEAVING: "true" if profile.is_leaving else None,
        RATE: f"{profile.runs_per_min:g}",
        RELEASE: profile.release,
        WATCHED: profile.watched or None,
    }


def _labelled(lease: Json, naming: Naming, **annotations: str | None) -> Json:
    """With our label and annotations; what others added stays. None: without that one."""
    metadata = {key: value for key, value in _metadata(lease).items() if key != "managedFields"}
    said = {**annotations_of(lease), **annotations}
    metadata["labels"] = {**as_map(metadata.get("labels")), SHARDS_LABEL: naming.label}
    metadata["annotations"] = {key: value for key, value in said.items() if value is not None}
    return {**lease, "apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": metadata}


def _metadata(lease: Json) -> Json:
    return as_map(lease.get("metadata"))


def annotations_of(lease: Json) -> Json:
    return as_map(_metadata(lease).get("annotations"))


def name_of(lease: Json) -> str:
    return str(_metadata(lease).get("name") or "")


def _whole(value: object, otherwise: int) -> int:
    text = str(value)
    if not (text.isascii() and text.isdigit()):
        return otherwise
    return min(int(text[:9]), _HEAVIEST)


def _number(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        return 0.0
    return number if 0.0 <= number < float("inf") else 0.0
