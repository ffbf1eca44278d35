"""What a status is to become: conditions by type, the rest merged; nothing here reaches a server."""

from __future__ import annotations

import copy
import re

CONDITION_KEYS = (
    "type",
    "status",
    "reason",
    "message",
    "lastHeartbeatTime",
    "lastTransitionTime",
)

_REASON = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})", re.IGNORECASE
)


class InvalidConditionsError(ValueError):
    """A condition that the API convention does not allow."""


def checked_conditions(conditions):
    """The conditions without empty keys; raises on the first that is not one."""
    return [_checked(condition) for condition in conditions or []]


def _checked(condition):
    unknown = sorted(set(condition) - set(CONDITION_KEYS))
    if unknown:
        raise InvalidConditionsError(f"{unknown} are not keys of a condition")
    kept = {key: value for key, value in condition.items() if value is not None}
    for key in ("type", "status"):
        if key not in kept:
            raise InvalidConditionsError(f"Condition `{key}` must be set")
    kept["status"] = str(kept["status"]).capitalize()
    if kept["status"] not in ("True", "False", "Unknown"):
        raise InvalidConditionsError(
            f"Condition 'status' must be one of True, False, Unknown, not `{kept['status']}`"
        )
    if kept.get("reason") and not _REASON.fullmatch(kept["reason"]):
        raise InvalidConditionsError(
            f"Condition 'reason' must be a single, camel-case word, not `{kept['reason']}`"
        )
    for key in ("lastHeartbeatTime", "lastTransitionTime"):
        if key in kept and not _TIME.fullmatch(kept[key]):
            raise InvalidConditionsError(f"'{key}' must be a RFC3339 time, not `{kept[key]}`")
    return kept


def merged_conditions(existing, wanted, now):
    """The conditions after the change: by type, in place, new ones at the end."""
    merged = copy.deepcopy(existing)
    for condition in wanted:
        place = next((i for i, old in enumerate(merged) if old.get("type") == condition["type"]), None)
        if place is None:
            merged.append({"lastTransitionTime": now, **condition})
            continue
        old = merged[place]
        if all(old.get(k) == v for k, v in condition.items() if k != "lastTransitionTime"):
            continue
        same_status = old.get("status") == condition["status"]
        time = old.get("lastTransitionTime", now) if same_status else now
        merged[place] = {"lastTransitionTime": time, **condition}
    return merged


def contains(current, wanted, replace_lists):
    """Whether setting `wanted` in `current` would change nothing."""
    if isinstance(wanted, dict):
        return isinstance(current, dict) and all(
            key in current and contains(current[key], value, replace_lists)
            if value is not None
            else current.get(key) is None
            for key, value in wanted.items()
        )
    if isinstance(wanted, list) and not replace_lists:
        return isinstance(current, list) and all(
            any(contains(have, want, replace_lists) for have in current) for want in wanted
        )
    return current == wanted
