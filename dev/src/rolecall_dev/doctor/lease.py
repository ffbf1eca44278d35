"""Who leads, where there is an election; whether replicas divide the CRs, where there are shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rolecall.clock import SystemClock
from rolecall.election import Division
from rolecall.kube import NotFoundError
from rolecall_dev.doctor.diagnosis import Diagnosis, done, to_do
from rolecall_dev.doctor.surroundings import Surroundings

_LEASES = "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}"


async def look_at_lease(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """At the Lease that the settings name."""
    shards = surroundings.settings.shards
    election = shards.election if shards.is_on else surroundings.settings.election
    if not election.is_on and not shards.is_on:
        return [
            done("no election: `--leader-elect` and `--shards` are off, so run one operator only")
        ]
    place = f"{election.namespace}/{election.id}"
    path = _LEASES.format(namespace=election.namespace, name=election.id)
    try:
        spec = (await surroundings.read(path)).get("spec") or {}
    except NotFoundError:
        return [done(f"nobody holds the Lease {place} yet")]
    holder = str(spec.get("holderIdentity") or "")
    if not holder:
        return [done(f"the Lease {place} was given back; whoever starts, takes it")]
    silent_s = _silent_s(spec)
    if silent_s > float(spec.get("leaseDurationSeconds") or 15):
        return [
            to_do(
                f"{holder} holds the Lease {place} and did not renew it for {silent_s:.0f} s",
                "no operator works now; look whether its pod runs, and at its log",
            )
        ]
    return [_living(holder, place, str(shards.count) if shards.is_on else "")]


def _living(holder: str, place: str, wanted: str) -> Diagnosis:
    """`wanted`: into how many shards the settings here divide the CRs; empty: they do not."""
    division = Division.of(holder)
    if division is None:
        if not wanted:
            return done(f"{holder} leads (Lease {place})")
        return to_do(
            f"{holder} leads by the Lease {place}, and the settings here ask for `--shards`",
            "replicas with shards wait until it ends: start all of them with the same flags",
        )
    if wanted in ("", division.count):
        return done(
            f"replicas divide the CRs into {division.count} shards (Lease {place});"
            " `rolecall status --shards` says who has which"
        )
    return to_do(
        f"replicas divide the CRs into {division.count} shards (Lease {place}), and the settings here"
        f" say {wanted}",
        "say the same number everywhere: replicas with another one wait until the others end",
    )


def _silent_s(spec: Mapping[str, Any]) -> float:
    """Since its holder renewed it; 0 where it does not say when."""
    try:
        renewed = datetime.fromisoformat(str(spec.get("renewTime") or ""))
    except ValueError:
        return 0.0
    return (SystemClock().now() - renewed).total_seconds()
