"""A Lease as data: who holds it, and what the next version of it says. Nothing here talks to a server.

The shape is that of every Kubernetes component, so that `kubectl get lease` and a Go operator that
takes over during a migration both read it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json

_RELEASED_S = 1
LEASE = Gvk("coordination.k8s.io", "v1", "Lease")


def holder_of(lease: Json) -> str:
    """The holder of the Lease; empty where there is none."""
    return str(_spec(lease).get("holderIdentity") or "")


def duration_of(lease: Json) -> float:
    """How long its holder promised to be back; 0 where it says no number."""
    seconds = _spec(lease).get("leaseDurationSeconds")
    return float(seconds) if isinstance(seconds, int | float) else 0.0


def new_lease(namespace: str, name: str, holder: str, seconds: float, now: datetime) -> Json:
    """The first version."""
    return {
        "apiVersion": LEASE.api_version,
        "kind": LEASE.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": _whole(seconds),
            "acquireTime": _micro_time(now),
            "renewTime": _micro_time(now),
            "leaseTransitions": 0,
        },
    }


def taken(lease: Json, holder: str, seconds: float, now: datetime) -> Json:
    """The version in which `holder` takes it over."""
    said = _spec(lease).get("leaseTransitions")
    transitions = said if isinstance(said, int) else 0
    return _changed(
        lease,
        holderIdentity=holder,
        leaseDurationSeconds=_whole(seconds),
        acquireTime=_micro_time(now),
        renewTime=_micro_time(now),
        leaseTransitions=transitions + 1,
    )


def renewed(lease: Json, now: datetime) -> Json:
    """The version in which its holder says that it is still there."""
    return _changed(lease, renewTime=_micro_time(now))


def is_released(lease: Json) -> bool:
    """Whether its holder gave it up, as every Kubernetes component does; not whether it was emptied."""
    return not holder_of(lease) and duration_of(lease) == _RELEASED_S


def released(lease: Json, now: datetime) -> Json:
    """The version that any replica may take at once."""
    return _changed(
        lease, holderIdentity="", leaseDurationSeconds=_RELEASED_S, renewTime=_micro_time(now)
    )


def _changed(lease: Json, **fields: Any) -> Json:
    return {**lease, "spec": {**_spec(lease), **fields}}


def _spec(lease: Json) -> Json:
    spec = lease.get("spec")
    return spec if isinstance(spec, dict) else {}


def _whole(seconds: float) -> int:
    return max(1, round(seconds))  # the API wants whole seconds, at least one


def _micro_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
