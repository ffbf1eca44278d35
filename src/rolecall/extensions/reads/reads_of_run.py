"""What a run read, by kind and namespace, without the CR itself and what it owns.

Those have watches already. Kinds are identified by the plural in the path, as in requests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from rolecall.extensions.reads.readers import MISSING, ReadsOfKey
from rolecall.json_object import Json
from rolecall.record import ObjectPlace, RunRecord, TouchedObject, touched_by
from rolecall.watches import Watch


class Spot(NamedTuple):
    """A kind in a namespace; an empty one is that of a cluster-scoped kind, or of a list over all."""

    group: str
    version: str
    plural: str
    namespace: str


def reads_of_run(record: RunRecord, watch: Watch, cr: Json) -> dict[Spot, ReadsOfKey]:
    """Each kind and namespace that it read, with the objects and lists."""
    touched, own_uid = touched_by(record), cr["metadata"].get("uid")
    names: dict[Spot, dict[str, str]] = defaultdict(dict)
    lists: dict[Spot, dict[str, str]] = defaultdict(dict)
    seen: dict[Spot, dict[tuple[str, str], str]] = defaultdict(dict)
    for each in touched.objects.values():
        spot, place = _spot(each.place), (each.place.namespace, each.place.name)
        seen[spot][place] = _state(each)
        is_dependent = each.is_owned and watch.watch_dependent_resources
        if each.was_read and each.uid != own_uid and not is_dependent:
            names[spot][each.place.name] = _state(each)
    for listed, digest in touched.lists.items():
        # Metadata does not show whether an object meets a field selector, so such a list has no digest.
        known = "" if listed.field_selector else digest
        lists[_spot(listed)][listed.label_selector] = known
    return {
        spot: ReadsOfKey(names[spot], lists[spot], _seen_in(spot, seen))
        for spot in names.keys() | lists.keys()
    }


def _seen_in(
    spot: Spot, seen: Mapping[Spot, Mapping[tuple[str, str], str]]
) -> dict[tuple[str, str], str]:
    """A list over all namespaces shows the objects of each."""
    found = dict(seen.get(spot, {}))
    if not spot.namespace:
        for other, states in seen.items():
            if other[:3] == spot[:3]:
                found |= states
    return found


def _spot(place: ObjectPlace) -> Spot:
    return Spot(place.group, place.version, place.resource, place.namespace)


def _state(touched: TouchedObject) -> str:
    return MISSING if touched.is_missing else touched.version
