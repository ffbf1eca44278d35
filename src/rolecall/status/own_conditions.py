"""The conditions that the Go operator does not have: `Ready`, `NotConverging`, `Paused`.

They stay where they are in the list, so the order of the three that it has is as ever. All speak of the
*current* generation of the object, and none is ever set over another's:

`Ready` is True when the current generation was applied, False when that failed, Unknown while its
first run is under way or still waits. A repeated run of the same generation leaves it alone, so it does
not flap. Many roles write a `Ready` of their own, which says more than ours can. Ours is known by its
reasons, which all begin with `Run`, and by its fields. Any other is left alone, with one exception: a
`Ready` that is True does not outlive a run that failed. The role cannot take it back, since a run may
fail before its first task or be killed; so we do, and the role's next word replaces ours. What a role
says of its own failure stays.

A mark of ours on the object was rejected, since nothing but status may be written there, and so was
memory, which a restart would lose.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rolecall.json_object import Json
from rolecall.status.ansible_conditions import (
    FALSE,
    TRUE,
    UNKNOWN,
    Conditions,
    condition,
    find,
    is_true,
    transition_time,
)

READY = "Ready"
NOT_CONVERGING = "NotConverging"
PAUSED = "Paused"

# Ready's reason is that of Failure with `Run` in front, or one of these.
READY_PREFIX = "Run"
READY_SUCCEEDED = "RunSucceeded"
READY_RUNNING = "RunInProgress"
READY_WAITING = "RunPending"

# `Running` is a state that roles report too; none of our reasons goes on in small letters.
_OWN = re.compile(READY_PREFIX + "[A-Z]")
_FIELDS = frozenset(
    {"type", "status", "lastTransitionTime", "reason", "message", "observedGeneration"}
)


def with_ready(conditions: Conditions, ready: Json, now: str) -> list[Any]:
    """Set our `Ready`, unless the one on the object has another author."""
    old = find(conditions, READY)
    if old is not None and not is_own_ready(old):
        return list(conditions)
    return set_in_place(conditions, ready, now)


def with_failed_ready(conditions: Conditions, ready: Json, now: str) -> list[Any]:
    """As `with_ready`, and in place of a `Ready` that another author set to True."""
    old = find(conditions, READY)
    if old is None or is_own_ready(old) or old.get("status") != TRUE:
        return with_ready(conditions, ready, now)
    # Whole, so that it is ours: with a field of theirs it would never be removed again.
    return [{**ready, "lastTransitionTime": now} if each is old else each for each in conditions]


def is_own_ready(found: Json) -> bool:
    reason = found.get("reason")
    return isinstance(reason, str) and bool(_OWN.match(reason)) and set(found) <= _FIELDS


def ready(status: str, reason: str, message: str, generation: int | None) -> Json:
    """A `Ready` about one generation; kinds without generations have none to report."""
    made = condition(READY, status, reason, message)
    return made if generation is None else {**made, "observedGeneration": generation}


def ready_while_running(
    conditions: Conditions, observed: object, generation: int | None
) -> Json | None:
    """What `Ready` becomes when a run starts; None where it is about this generation already.

    `observed` is the status's own `observedGeneration`, for schemas that drop the condition's.
    """
    old = find(conditions, READY)
    if old is not None:
        reported = old.get("observedGeneration", observed)
        if generation is None or reported == generation:
            return None
    what = "The object" if generation is None else f"Generation {generation}"
    return ready(UNKNOWN, READY_RUNNING, f"{what} is being reconciled", generation)


def not_converging(conditions: Conditions, text: str | None, now: str) -> list[Any]:
    """Name the task that keeps changing things; empty: the run changed nothing; None: not known yet."""
    if text is None or (not text and not is_true(conditions, NOT_CONVERGING)):
        return list(conditions)
    if text:
        fresh = condition(NOT_CONVERGING, TRUE, "SameTaskChanged", text)
    else:
        fresh = condition(NOT_CONVERGING, FALSE, "Converged", "The last run changed nothing")
    return set_in_place(conditions, fresh, now)


def paused(conditions: Conditions, message: str, now: str) -> list[Any]:
    return set_in_place(conditions, condition(PAUSED, TRUE, "PausedByAnnotation", message), now)


def resumed(conditions: Conditions, now: str) -> list[Any]:
    """Say so where the object was paused; else nothing."""
    if not is_true(conditions, PAUSED):
        return list(conditions)
    message = "The annotation was removed"
    return set_in_place(conditions, condition(PAUSED, FALSE, "Resumed", message), now)


def set_in_place(conditions: Sequence[Any], fresh: Json, now: str) -> list[Any]:
    """Set a condition of ours where it stands; fields that are not ours stay."""
    old = find(conditions, fresh["type"])
    time = transition_time(old, fresh["status"], now)
    new = {**fresh, "lastTransitionTime": time}
    if old is None:
        return [*conditions, new]
    unknown = {name: value for name, value in old.items() if name not in _FIELDS}
    return [{**unknown, **new} if each is old else each for each in conditions]
