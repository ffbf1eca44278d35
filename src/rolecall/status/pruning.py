"""Notices what a CRD's schema drops from status, says so once, and then stops sending it.

The API server removes fields that a structural schema does not name, without an error. A writer that
does not look would find its own words missing each time and write them again, and every write would
carry a warning. So each answer is compared with what was sent. What was dropped is remembered for some
minutes, not for ever: a CRD may be mended while the engine runs.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from rolecall.clock import Clock
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.log_fields import log_fields

# Long enough to be quiet, short enough that a mended CRD is noticed while its author still looks.
REMEMBER_S = 600.0
IN_CONDITIONS = "conditions[]."

_logger = logging.getLogger(__name__)


class PrunedFields:
    """What each kind's schema drops, as paths: `observedGeneration`, `conditions[].ansibleResult`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pruned: dict[Gvk, tuple[float, frozenset[str]]] = {}
        self._reported: set[tuple[Gvk, frozenset[str]]] = set()

    def without_pruned(self, gvk: Gvk, status: Json) -> Json:
        """The same status without what would be dropped anyway."""
        until, pruned = self._pruned.get(gvk, (0.0, frozenset()))
        if not pruned or self._clock.monotonic() >= until:
            return status
        kept = {key: value for key, value in status.items() if key not in pruned}
        in_items = {path.removeprefix(IN_CONDITIONS) for path in pruned}
        if "conditions" in kept:
            kept["conditions"] = [_without(item, in_items) for item in kept["conditions"]]
        return kept

    def compare(self, gvk: Gvk, sent: Mapping[str, Any], received: Mapping[str, Any]) -> None:
        """Learn from an answer; logs once for each kind and set of fields."""
        missing = _missing(sent, received)
        if not missing:
            return
        until, known = self._pruned.get(gvk, (0.0, frozenset()))
        now = self._clock.monotonic()
        pruned = missing | known if now < until else missing
        self._pruned[gvk] = (now + REMEMBER_S, pruned)
        if (gvk, pruned) not in self._reported:
            self._reported.add((gvk, pruned))
            fields = ", ".join(f"`status.{path}`" for path in sorted(pruned))
            _logger.warning(
                "the schema of this kind dropped status fields, so they will be missing\n"
                "hint: add `x-kubernetes-preserve-unknown-fields: true` to `status` in its CRD",
                extra=log_fields(kind=gvk.kind, version=gvk.api_version, dropped=fields),
            )


def _missing(sent: Mapping[str, Any], received: Mapping[str, Any]) -> frozenset[str]:
    missing = {key for key in sent if key not in received}
    answered = received.get("conditions")
    if isinstance(answered, list) and len(answered) == len(sent.get("conditions", ())):
        for item, answer in zip(sent["conditions"], answered, strict=True):
            if isinstance(item, dict) and isinstance(answer, dict):
                missing |= {f"{IN_CONDITIONS}{name}" for name in item if name not in answer}
    return frozenset(missing)


def _without(item: Any, names: set[str]) -> Any:
    if not isinstance(item, dict):
        return item
    return {name: value for name, value in item.items() if name not in names}
