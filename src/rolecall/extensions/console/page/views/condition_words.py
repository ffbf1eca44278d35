"""Conditions in plain words: a sentence for each, with the moment that it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rolecall.json_object import Json, as_map
from rolecall.status import is_own_ready

_LONGEST = 300
_REASONS = {
    "PlayBroken": "its play is broken",
    "TimedOut": "it timed out",
    "NoProgress": "it made no progress",
    "Killed": "it was killed",
}
_BAD_IF_TRUE = frozenset({"Stalled", "Degraded", "Failed", "Failure", "Error"})
_GOOD_IF_TRUE = frozenset(
    {"Ready", "Available", "Established", "Healthy", "Succeeded", "Complete", "Completed", "Synced"}
)
_ANSWERS = {"True": "yes", "False": "no", "Unknown": "unknown"}
_WOULD_CHANGE = re.compile(r"A run would change \d+ objects?: ")
_MORE = re.compile(r"(.*) (and \d+ more)", re.DOTALL)
_WITHOUT_MESSAGE = {"waits": "A run would change something", "good": "A run would change nothing"}


@dataclass(frozen=True, slots=True)
class ShownCondition:
    type: str
    status: str
    reason: str
    message: str  # whole
    since: str
    words: str  # a sentence, without its end
    at: str = ""  # the moment that ends it; empty: it has none
    rest: str = ""  # after that
    colour: str = "other"


@dataclass(frozen=True, slots=True)
class DriftWords:
    """What a run would change, as an observer wrote it into `Drifted`."""

    words: str
    since: str
    colour: str
    paths: Sequence[str] = ()  # `Deployment shop/web.spec.replicas`
    more: str = ""


def shown_conditions(conditions: Sequence[Any]) -> list[ShownCondition]:
    """Those that are of the shape that conditions have."""
    found = [each for each in conditions if isinstance(each, dict)]
    is_running = any(
        _is(each, "Running", "True") and each.get("reason") == "Running" for each in found
    )
    return [_shown(each, is_running=is_running) for each in found]


def drift_in(conditions: Sequence[Any]) -> DriftWords | None:
    """None: no observer wrote that it looked."""
    found = next((each for each in map(as_map, conditions) if each.get("type") == "Drifted"), None)
    if found is None:
        return None
    message, since = _text(found, "message"), _text(found, "lastTransitionTime")
    colour = {"True": "waits", "False": "good"}.get(_text(found, "status"), "other")
    head = _WOULD_CHANGE.match(message)
    if head is None:
        return DriftWords(
            message
            or _WITHOUT_MESSAGE.get(colour, "It is unknown whether a run would change something"),
            since,
            colour,
        )
    rest, more = message[head.end() :], ""
    if cut := _MORE.fullmatch(rest):
        rest, more = cut.groups()
    return DriftWords(head[0].rstrip(": "), since, colour, rest.split(", "), more)


def _shown(found: Json, *, is_running: bool) -> ShownCondition:
    kind, status, reason, message, since = (
        _text(found, name) for name in ("type", "status", "reason", "message", "lastTransitionTime")
    )
    is_ours = kind != "Ready" or is_own_ready(found)
    words = _SENTENCES.get((kind, status)) if is_ours else None
    if words is None:
        said = _of_another(found, kind, status, reason, message)
    else:
        said = words(_Facts(reason, message[:_LONGEST], _generation(found), is_running))
    return ShownCondition(
        kind, status, reason, message, since, said[0], since if said[1] else "", said[2], said[3]
    )


@dataclass(frozen=True, slots=True)
class _Facts:
    reason: str
    message: str
    generation: str
    is_running: bool


_Said = tuple[str, bool, str, str]  # words, whether the moment ends them, the rest, colour


def _of_another(found: Json, kind: str, status: str, reason: str, message: str) -> _Said:
    """`Ready: yes since 12:04, AsExpected: all is well`."""
    why = ": ".join(filter(None, (reason, message[:_LONGEST])))
    is_good = {"True": True, "False": False}.get(status)
    colour = "other"
    if is_good is not None and kind in _GOOD_IF_TRUE:
        colour = "good" if is_good else "bad"
    elif is_good is not None and kind in _BAD_IF_TRUE:
        colour = "bad" if is_good else "good"
    elif is_good and kind in ("Reconciling", "Progressing"):
        colour = "busy"
    has_time = bool(found.get("lastTransitionTime"))
    words = f"{kind}: {_ANSWERS.get(status, status or 'unknown')}"
    return f"{words} since" if has_time else words, has_time, f", {why}" if why else "", colour


def _running(facts: _Facts) -> _Said:
    if facts.is_running:
        at = facts.message.removeprefix("Running ")
        return (
            "A run has been in progress since",
            True,
            f": {at}" if at != "reconciliation" else "",
            "busy",
        )
    return "No run is in progress; the last one began at", True, "", "rests"


def _not_running(facts: _Facts) -> _Said:
    if facts.reason == "Cancelled":
        return "The operator cancelled the last run at", True, f": {facts.message}", "waits"
    return "No run is in progress", False, "", "rests"


def _not_successful(facts: _Facts) -> _Said:
    if facts.is_running:
        return "The current run has not succeeded yet", False, "", "busy"
    return "The last run did not succeed", False, "", "bad"


def _failed(facts: _Facts) -> _Said:
    """Its moment is that of the first failure in a row."""
    why = ": ".join(filter(None, (_REASONS.get(facts.reason, ""), facts.message)))
    return "Runs have failed since", True, f": {why}" if why else "", "bad"


_SENTENCES: dict[tuple[str, str], Callable[[_Facts], _Said]] = {
    ("Running", "True"): _running,
    ("Running", "False"): _not_running,
    ("Successful", "True"): lambda _: ("Last run succeeded at", True, "", "good"),
    ("Successful", "False"): _not_successful,
    ("Failure", "True"): _failed,
    ("Failure", "False"): lambda _: ("No run has failed since", True, "", "good"),
    ("Ready", "True"): lambda facts: (f"{facts.generation} is applied, since", True, "", "good"),
    ("Ready", "False"): lambda facts: (
        f"{facts.generation} is not applied, since",
        True,
        f": {facts.message}",
        "bad",
    ),
    ("Ready", "Unknown"): lambda facts: (facts.message, False, "", "busy"),
    ("NotConverging", "True"): lambda facts: (
        "Each run has changed something since",
        True,
        f": {facts.message}",
        "waits",
    ),
    ("NotConverging", "False"): lambda _: ("The last run changed nothing", False, "", "good"),
    ("Paused", "True"): lambda facts: ("Paused since", True, f": {facts.message}", "rests"),
    ("Paused", "False"): lambda _: ("Resumed at", True, "", "good"),
    ("Drifted", "True"): lambda facts: (
        facts.message or "A run would change something",
        False,
        "",
        "waits",
    ),
    ("Drifted", "False"): lambda _: ("A run would have changed nothing since", True, "", "good"),
    ("Drifted", "Unknown"): lambda facts: (
        facts.message or "It is unknown what a run would change",
        False,
        "",
        "other",
    ),
}


def _generation(found: Json) -> str:
    number = found.get("observedGeneration")
    return f"Generation {number}" if isinstance(number, int) and number > 0 else "The object"


def _is(found: Json, kind: str, status: str) -> bool:
    return (found.get("type"), found.get("status")) == (kind, status)


def _text(found: Json, name: str) -> str:
    value = found.get(name)
    if value is None:
        return ""
    return value if isinstance(value, str) else str(value)
