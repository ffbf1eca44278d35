"""What the other version cannot hold is kept in an annotation, beside what that version says of it.

A rule's values are kept when the way back from the other version would not give them again. With
them goes a digest of what the other version has in their place: once a user edits that, the kept
values are old, and the edit wins. One entry for each rule, so that an edit of one field outdates
nothing else. Rejected: the whole object of the other version, which any edit outdates, and which
doubles the size of each object.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from rolecall.conversion.paths import ABSENT
from rolecall.conversion.rules import Values
from rolecall.json_object import Json

KEPT_PREFIX = "conversion.rolecall.dev/"
EMPTY, ABSENT_MAP = "empty", "absent"


class KeptValues:
    """What one object keeps for one other version."""

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._entries = dict(entries)

    @classmethod
    def read(cls, metadata: Mapping[str, Any], version: str) -> KeptValues:
        """From an object; an annotation that cannot be parsed keeps nothing."""
        annotations = metadata.get("annotations") or {}
        try:
            entries = json.loads(annotations.get(KEPT_PREFIX + version, "{}"))
        except (TypeError, ValueError):
            entries = {}
        return cls(entries if isinstance(entries, dict) else {})

    def write(self, metadata: Json, version: str) -> None:
        """Into an object; nothing kept is no annotation."""
        annotations = metadata.setdefault("annotations", {})
        annotations.pop(KEPT_PREFIX + version, None)
        if self._entries:
            text = json.dumps(self._entries, separators=(",", ":"), sort_keys=True)
            annotations[KEPT_PREFIX + version] = text
        if not annotations:
            del metadata["annotations"]

    def keep(self, rule: str, values: Values, instead: Values) -> None:
        """These values, for as long as the other version has these instead."""
        packed = [[] if value is ABSENT else [value] for value in values]
        self._entries[rule] = {"was": packed, "while": _digest(instead)}

    def restored(self, rule: str, instead: Values) -> Values | None:
        """The kept values; None where there are none, or a user edited what replaces them."""
        entry = self._entries.get(rule)
        if not isinstance(entry, dict) or entry.get("while") != _digest(instead):
            return None
        packed = entry.get("was")
        if not isinstance(packed, list) or not all(isinstance(one, list) for one in packed):
            return None
        return tuple(one[0] if one else ABSENT for one in packed)

    def keep_shape(self, shape: str, paths: list[str]) -> None:
        """Maps that were empty or absent, where a conversion would say the other."""
        if paths:
            self._entries[shape] = paths

    def shape(self, shape: str) -> list[str]:
        paths = self._entries.get(shape, [])
        return [path for path in paths if isinstance(path, str)] if isinstance(paths, list) else []


def _digest(values: Values) -> str:
    packed = [[] if value is ABSENT else [value] for value in values]
    text = json.dumps(packed, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
