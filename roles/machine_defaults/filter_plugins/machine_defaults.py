"""What a Machine is given that nobody said, and that the CRD cannot know."""

from __future__ import annotations

import re
from typing import Any

Json = dict[str, Any]
SMALLEST = 1  # GiB: what the CRD says where nobody does
GIB = 1024**3
UNITS = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4, "P": 1000**5}
UNITS |= {f"{letter}i": 1024 ** (place + 1) for place, letter in enumerate("KMGTP")}
# How OpenShift says which users the pods of a namespace may have: the first of them, and how many.
HIGHEST = 2**31 - 1
USERS = "openshift.io/sa.scc.uid-range"


def machine_defaults(spec: Json, snapshots: list[Json], namespaces: list[Json]) -> Json:
    """A merge patch: a disk that holds the snapshot, and a user that the namespace allows."""
    given: Json = {}
    needed = max((_gib(each) for each in snapshots), default=0)
    if spec.get("disk", SMALLEST) == SMALLEST < needed:
        given["disk"] = needed
    user = next((_first_user(each) for each in namespaces), None)
    if "user" not in spec and user is not None:
        given["user"] = user
    return {"spec": given} if given else {}


def _gib(snapshot: Json) -> int:
    """What a disk that is made from it must have at least; 0 where nobody knows."""
    size = str((snapshot.get("status") or {}).get("restoreSize", ""))
    found = re.fullmatch(r"([0-9]+)([A-Za-z]*)", size)
    if not found or found[2] not in UNITS:
        return 0
    return -(-int(found[1]) * UNITS[found[2]] // GIB)


def _first_user(namespace: Json) -> int | None:
    text = (namespace["metadata"].get("annotations") or {}).get(USERS, "")
    found = re.match(r"([0-9]{1,10})\b", text)
    return int(found[1]) if found and int(found[1]) <= HIGHEST else None


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"machine_defaults": machine_defaults}
