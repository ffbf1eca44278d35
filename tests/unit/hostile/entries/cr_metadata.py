"""What the engine itself reads of a CR: annotations, and conditions that anybody may have written."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rolecall.documents import DurationError
from rolecall.extensions.plan.conditions import DriftApplied, Observed
from rolecall.extensions.plan.keys import MODE_ANNOTATION, is_observed
from rolecall.logs import JsonFormatter, PeopleFormatter
from rolecall.reconcile import annotations as read
from rolecall.status import (
    Cancelled,
    Ended,
    InFlight,
    NotRun,
    Paused,
    Started,
    StatusChange,
    Verdict,
    conditions_of,
)
from rolecall.watches import Play, Watch
from tests.unit.hostile.dice import Dice
from tests.unit.hostile.entry_point import Check, EntryPoint, must
from tests.unit.runner.cases import APP, app

_NAMES = (
    *(read.PERIOD_ANNOTATION, read.VERBOSITY, read.MAX_ARTIFACTS, read.PAUSED_ANNOTATION),
    *(read.PAUSED_BY, read.PAUSED_BECAUSE, MODE_ANNOTATION),
)
_OUR_TYPES = ("Running", "Successful", "Failure", "Ready", "NotConverging", "Paused", "Drifted")
_NOW = "2026-11-25T10:00:00Z"
_CHANGES: dict[str, StatusChange] = {
    "started": Started(),
    "in flight": InFlight("task `x` since then"),
    "succeeded": Ended(
        Verdict(succeeded=True, ansible_result={"ok": 1}), 2, edits=[DriftApplied()]
    ),
    "failed": Ended(Verdict(succeeded=False, message="boom"), 2, not_converging="again"),
    "not run": NotRun("no role"),
    "cancelled": Cancelled("stopped"),
    "observed": Observed(2, "two objects", 2),
    "paused": Paused("paused"),
}
# Longest that an Ansible of any verbosity needs; it is written out letter by letter.
_MOST_VERBOSE = 100
_LONGEST_NOTE = 200


def _condition(dice: Dice) -> Any:
    plain = {
        "type": dice.pick(_OUR_TYPES),
        "status": dice.pick(("True", "False", "Unknown")),
        "reason": dice.pick(("Running", "Successful", "Failed", "RunSucceeded", "RunFailed", "X")),
        "message": dice.pick(("Running reconciliation", "Running task `x`", dice.text())),
        "lastTransitionTime": dice.pick((_NOW, dice.text())),
    }
    return dice.changed(plain, dice.pick((0.0, 0.2)))


def _make(dice: Dice) -> dict[str, Any]:
    cr = app(generation=2)
    cr["metadata"] |= {"generation": 2, "uid": "u", "resourceVersion": "1"}
    cr["metadata"]["annotations"] = {name: dice.text() for name in dice.some(_NAMES, 4)}
    status: Any = {"conditions": [_condition(dice) for _ in range(dice.number(0, 6))]}
    if dice.happens(0.5):
        status[dice.key()] = dice.tree()
    cr["status"] = dice.changed(status, dice.pick((0.0, 0.1)))
    return {"cr": cr, "changes": dice.some(tuple(_CHANGES), 4)}


class _Lines(logging.Handler):
    """What the log would hold."""

    def __init__(self) -> None:
        super().__init__()
        self.formatters = (PeopleFormatter(logging.ERROR), JsonFormatter(logging.ERROR))
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts += [formatter.format(record) for formatter in self.formatters]


@contextmanager
def _open(_folder: Path) -> Iterator[Check]:
    lines = _Lines()
    logger = logging.getLogger("rolecall.reconcile.annotations")
    logger.addHandler(lines)
    was_passed_on, logger.propagate = logger.propagate, False
    watch = Watch(APP, Play(Path("/project/roles/app"), is_role=True))

    def check(case: Any) -> bool:
        lines.texts.clear()
        cr = case["cr"]
        is_accepted = True
        try:
            period_s = read.period_of(cr, watch)
            must(math.isfinite(period_s), "a period is a number of seconds")
        except DurationError as refusal:
            must("\n" not in str(refusal), "why a period is none fits a line")
            is_accepted = False
        verbosity = read.verbosity_of(cr, watch)
        must(
            verbosity is None or verbosity <= _MOST_VERBOSE, f"verbosity {verbosity} fits a command"
        )
        must(read.kept_artifacts_of(cr, watch) >= 0, "artifacts are counted from nought")
        read.is_paused(cr), is_observed(cr, watch), read.is_deleted(cr), read.with_spec(cr)
        who = read.who_paused(cr)
        must(len(who) <= _LONGEST_NOTE and len(who.splitlines()) <= 1, "who paused fits a line")
        for text in lines.texts:
            must(
                len(text.splitlines()) == 1 and text.isprintable(),
                f"one record is one line: {text!r}",
            )
        _check_status(cr, case["changes"])
        return is_accepted

    try:
        yield check
    finally:
        logger.removeHandler(lines)
        logger.propagate = was_passed_on


def _check_status(cr: dict[str, Any], changes: list[str]) -> None:
    before = json.dumps(cr)
    theirs = [one for one in conditions_of(cr) if not _is_ours(one)]
    others = {key: value for key, value in _map(cr.get("status")).items()}
    for name in changes:
        status = _CHANGES[name](cr, _NOW)
        must(json.dumps(cr) == before, "a change leaves the CR that it is given as it was")
        kept = [one for one in status["conditions"] if not _is_ours(one)]
        must(kept == theirs, "conditions of others stay, in their order")
        for key, value in others.items():
            if key not in ("conditions", "observedGeneration"):
                must(status[key] == value, f"the role's own `{key}` stays")
        cr = {**cr, "status": json.loads(json.dumps(status))}
        before = json.dumps(cr)


def _is_ours(condition: Any) -> bool:
    type_ = condition.get("type") if isinstance(condition, dict) else None
    return isinstance(type_, str) and type_ in _OUR_TYPES


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


CR_METADATA = EntryPoint("cr_metadata", _make, _open, cases=3000)
