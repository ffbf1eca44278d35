"""Wakes the other Mappings of a prefix when one of them comes, changes or goes.

Nothing of a Mapping changes when another one takes its prefix or gives it up, so its role would have to
look now and then. docs/kinds/mapping.md says whose a prefix is.
"""

from __future__ import annotations

from typing import Any

import kopf

from rolecall.extensions.handlers import reconcile

_KIND = {"apiVersion": "routing.rolecall.dev/v1", "kind": "Mapping"}


def prefix_of(spec: Any) -> str:
    """As the role compares it."""
    return str(spec["match"]["prefix"]).rstrip("/")


@kopf.index("mappings")
def mappings(spec: Any, body: Any, **_: Any) -> dict[str, Any]:
    """All Mappings by their prefixes."""
    metadata = {key: body["metadata"][key] for key in ("name", "namespace", "uid")}
    return {prefix_of(spec): {**_KIND, "metadata": metadata}}


@kopf.on.event("mappings")
async def changed(type: Any, spec: Any, meta: Any, memo: Any, mappings: Any, **_: Any) -> None:
    """Reconcile those that want the prefix that it has, had, or gives up."""
    claim = (spec["match"], spec.get("gateway"), "deletionTimestamp" in meta, type == "DELETED")
    before, memo.claim = memo.get("claim"), claim
    if type is None or claim == before:  # there when the operator started, or nothing new
        return
    prefixes = {prefix_of(spec)} | ({prefix_of({"match": before[0]})} if before else set())
    for other in (each for prefix in prefixes for each in mappings.get(prefix, ())):
        if other["metadata"]["uid"] != meta["uid"]:
            reconcile(other, "another Mapping of its prefix changed")
