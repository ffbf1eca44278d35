"""The three conditions that clients of the Go operator wait for, exactly as they know them.

Every function takes the list as it is on the object and returns the list as it shall be; nothing is
changed in place. Types, reasons, messages, order and the rules of when nothing changes are the Go
operator's, because `kubectl wait`, molecule scenarios and dashboards match on them:

    moment           Running               Successful            Failure
    running          True/Running          False, if present     untouched
    success          True/Successful       True/Successful       False
    failure          False, if present     False                 True/<reason>
    error            False, if present     False, if present     True/Failed

In three points we are better than it, and no client can mind: conditions of others, and unknown fields
in ours, survive as they are and where they are; a condition that flips gets a new transition time, also
where the Go operator keeps the old one, and that of `Running` is the start of the last run; and while a
run goes on for long, the message of `Running` names its task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rolecall.json_object import Json

# Items are whatever the object has: mostly dicts, but it is not ours to say.
Conditions = Sequence[Any]

RUNNING = "Running"
SUCCESSFUL = "Successful"
FAILURE = "Failure"

TRUE = "True"
FALSE = "False"
UNKNOWN = "Unknown"

RUNNING_MESSAGE = "Running reconciliation"
_IN_FLIGHT = "Running task "  # how the message begins while it names the task
AWAITING_MESSAGE = "Awaiting next reconciliation"
SUCCESS_MESSAGE = "Last reconciliation succeeded"
FAILED = "Failed"

_KNOWN = frozenset({"type", "status", "lastTransitionTime", "reason", "message", "ansibleResult"})


def running(conditions: Conditions, now: str) -> list[Any]:
    marked = _flipped_to_false(conditions, SUCCESSFUL, now)
    fresh = condition(RUNNING, TRUE, RUNNING, RUNNING_MESSAGE)
    old = find(conditions, RUNNING)
    if old is not None and _is_same(old, fresh):
        # Of a run whose end was never reported; a text of another writer stays, as in the Go operator.
        text = RUNNING_MESSAGE if _is_in_flight(old) else old.get("message", RUNNING_MESSAGE)
        again = {**old, "message": text, "lastTransitionTime": now}
        return [again if each is old else each for each in marked]
    # Its status may be True already; the time is that of this run all the same.
    return [
        {**each, "lastTransitionTime": now} if _is_of(each, RUNNING) else each
        for each in _set(marked, fresh, now)
    ]


def in_flight(conditions: Conditions, at: str) -> list[Any]:
    """Name what a run is at; nothing where another client wrote `Running` meanwhile."""
    old = find(conditions, RUNNING)
    if old is None or not _is_same(old, condition(RUNNING, TRUE, RUNNING)):
        return list(conditions)
    if old.get("message") != RUNNING_MESSAGE and not _is_in_flight(old):
        return list(conditions)
    return [{**old, "message": f"Running {at}"} if each is old else each for each in conditions]


def success(conditions: Conditions, result: Mapping[str, Any] | None, now: str) -> list[Any]:
    awaiting = condition(RUNNING, TRUE, SUCCESSFUL, AWAITING_MESSAGE, result)
    marked = _set(conditions, awaiting, now)
    marked = _set(marked, condition(SUCCESSFUL, TRUE, SUCCESSFUL, SUCCESS_MESSAGE), now)
    return _set(marked, condition(FAILURE, FALSE), now)


def failure(
    conditions: Conditions,
    reason: str,
    message: str,
    result: Mapping[str, Any] | None,
    now: str,
) -> list[Any]:
    """A run ended badly; `reason` is `Failed` where tasks failed."""
    marked = _flipped_to_false(conditions, RUNNING, now)
    marked = _set(marked, condition(FAILURE, TRUE, reason, message, result), now)
    return _set(marked, condition(SUCCESSFUL, FALSE), now)


def error(conditions: Conditions, message: str, now: str) -> list[Any]:
    """No run could be started."""
    marked = _flipped_to_false(conditions, RUNNING, now)
    marked = _flipped_to_false(marked, SUCCESSFUL, now)
    return _set(marked, condition(FAILURE, TRUE, FAILED, message), now)


def cancelled(conditions: Conditions, message: str, now: str) -> list[Any]:
    """A run was ended by the engine, so nothing runs and nothing is known; the others stay."""
    if find(conditions, RUNNING) is None:
        return list(conditions)
    return _set(conditions, condition(RUNNING, FALSE, "Cancelled", message), now)


def find(conditions: Conditions, type_: str) -> Json | None:
    """The first condition of a type."""
    return next((each for each in conditions if _is_of(each, type_)), None)


def is_true(conditions: Conditions, type_: str) -> bool:
    found = find(conditions, type_)
    return found is not None and _status_of(found) == TRUE


def transition_time(old: Json | None, status: str, now: str) -> str:
    """The old time while the status stays what it is, else `now`."""
    if old is None or _status_of(old) != status:
        return now
    time = old.get("lastTransitionTime")
    return time if isinstance(time, str) and _is_time(time) else now


def condition(
    type_: str,
    status: str,
    reason: str = "",
    message: str = "",
    result: Mapping[str, Any] | None = None,
) -> Json:
    made: Json = {"type": type_, "status": status, "reason": reason, "message": message}
    if result is not None:
        made["ansibleResult"] = dict(result)
    return made


def _set(conditions: Conditions, fresh: Json, now: str) -> list[Any]:
    type_ = fresh["type"]
    old = find(conditions, type_)
    if old is not None and type_ != FAILURE and _is_same(old, fresh):
        return list(conditions)
    time = transition_time(old, fresh["status"], now)
    others = [each for each in conditions if not _is_of(each, type_)]
    return [*others, {**_unknown(old), **fresh, "lastTransitionTime": time}]


def _flipped_to_false(conditions: Conditions, type_: str, now: str) -> list[Any]:
    old = find(conditions, type_)
    if old is None:
        return list(conditions)
    # Reason and message stay, as in the Go operator; a task that it named is over.
    flipped = {"reason": "", "message": "", **old, "status": FALSE}
    if type_ == RUNNING and _is_in_flight(flipped):
        flipped["message"] = RUNNING_MESSAGE
    return _set(conditions, flipped, now)


def _is_in_flight(running: Json) -> bool:
    return str(running.get("message")).startswith(_IN_FLIGHT)


def _unknown(old: Json | None) -> Json:
    """What others added to a condition of ours."""
    return {name: value for name, value in (old or {}).items() if name not in _KNOWN}


def _is_same(old: Json, fresh: Json) -> bool:
    return (_status_of(old), old.get("reason", "")) == (fresh["status"], fresh["reason"])


def _is_of(condition: Any, type_: str) -> bool:
    return isinstance(condition, dict) and condition.get("type") == type_


def _status_of(condition: Json) -> str:
    return str(condition.get("status", TRUE))


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
