"""What the API server asks, and a timer that acts where the operator leads."""

from __future__ import annotations

from typing import Any

import kopf


@kopf.index("parcels")
def weights(name: str | None, spec: kopf.Spec, **_: Any) -> dict[str, int]:
    """Of all parcels there are."""
    return {name or "": spec.get("weight", 0)}


@kopf.on.validate("parcels", operation="CREATE")
def light(spec: kopf.Spec, warnings: list[str], logger: Any, weights: Any = None, **_: Any) -> None:
    """All together weigh 100 at most."""
    weight = spec.get("weight", 0)
    logger.info("asked about %s", weight)
    if weight > 100:
        raise kopf.AdmissionError(f"weight {weight} is more than 100", code=422)
    if sum(sum(each) for each in weights.values()) + weight > 100:
        raise kopf.PermanentError("all parcels together weigh more than 100")
    if weight > 50:
        warnings.append(f"weight {weight} is large")


@kopf.on.validate("parcels", operation="DELETE")
async def kept(spec: kopf.Spec, **_: Any) -> None:
    """A parcel that is kept stays."""
    if spec.get("kept"):
        raise kopf.AdmissionError("it is kept; set spec.kept to false first", code=403)


@kopf.on.mutate("parcels")
def labelled(patch: kopf.Patch, userinfo: Any, **_: Any) -> None:
    """Who asked."""
    patch.metadata.labels["asked-for-by"] = userinfo["username"]


@kopf.on.mutate("parcels")
def coloured(patch: kopf.Patch, labels: kopf.Labels, **_: Any) -> None:
    """It sees what the one before set."""
    patch.metadata.labels["seen"] = labels["asked-for-by"]
    patch.spec["colour"] = "brown"


@kopf.timer("parcels", interval=0.3)
def tick(patch: kopf.Patch, status: kopf.Status, **_: Any) -> None:
    """By the replica that leads alone."""
    patch.status["ticks"] = status.get("ticks", 0) + 1
