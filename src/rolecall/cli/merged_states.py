"""What replicas that divide the CRs say, put together: of each CR, what the one says that has it.

They are asked one after the other, so a shard may change hands in between; then two say that they have
a CR, and the last one counts, or none says it, and what any of them says is shown as unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.json_object import Json

_Place = tuple[str, str, str, str]


def merged_state(states: Sequence[Json]) -> Json:
    """One document, in the order of the first one; its engine is that of the first, with all shards."""
    crs: dict[_Place, Json] = {}
    for state in states:
        for cr in state["crs"]:
            place = _place(cr)
            if place not in crs or is_had_by(state, cr):
                crs[place] = cr
    engines = [state["engine"] for state in states]
    shards = {
        "count": engines[0]["shards"]["count"],
        "held": sum(engine["shards"]["held"] for engine in engines),
        "replica": "",
        "replicas": [engine["shards"]["replica"] for engine in engines],
    }
    return {"engine": {**engines[0], "shards": shards}, "crs": list(crs.values())}


def is_had_by(state: Json, cr: Json) -> bool:
    """Whether the replica that says this works on the CR."""
    shards = (state.get("engine") or {}).get("shards")
    if not shards:
        return True
    return bool(cr.get("replica")) and cr["replica"] == shards["replica"]


def who_has(cr: Json) -> str:
    """In words, for a CR that somebody asks about."""
    replica, shard = cr.get("replica"), cr["shard"]
    return (
        f"`{replica}` has its shard, {shard}" if replica else f"nobody has its shard, {shard}, now"
    )


def _place(cr: Json) -> _Place:
    return (cr["api_version"], cr["kind"], cr["namespace"], cr["name"])
