"""Who leads, where there is an election."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from rolecall.clock import SystemClock
from rolecall.kube import NotFoundError
from rolecall_dev.doctor.diagnosis import Diagnosis, done, to_do
from rolecall_dev.doctor.surroundings import Surroundings

_LEASES = "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}"


async def look_at_lease(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """At the Lease that the settings name."""
    election = surroundings.settings.election
    if not election.is_on:
        return [done("no election: `--leader-elect` is off, so run one operator only")]
    place = f"{election.namespace}/{election.id}"
    path = _LEASES.format(namespace=election.namespace, name=election.id)
    try:
        spec = (await surroundings.read(path)).get("spec") or {}
    except NotFoundError:
        return [done(f"nobody holds the Lease {place} yet")]
    holder = spec.get("holderIdentity")
    if not holder:
        return [done(f"the Lease {place} was given back; whoever starts, leads")]
    age = _age(str(spec.get("renewTime") or ""))
    if age is not None and age.total_seconds() > float(spec.get("leaseDurationSeconds") or 15):
        return [
            to_do(
                f"{holder} holds the Lease {place} and did not renew it for"
                f" {age.total_seconds():.0f} s",
                "no operator leads now; look whether its pod runs, and at its log",
            )
        ]
    return [done(f"{holder} leads (Lease {place})")]


def _age(text: str) -> timedelta | None:
    try:
        return SystemClock().now() - datetime.fromisoformat(text)
    except ValueError:
        return None
