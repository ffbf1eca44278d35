"""What a CR itself says about its runs, read from its metadata; nothing here asks the API server.

Who may write a CR may ask for less than its watch gives, never for more: shorter output, fewer kept
runs, and a period that is not below a floor. What is capped is logged.

Numbers that are none are logged and ignored, as in the Go operator; a period that is none is an error,
because a CR that silently falls back to ten hours looks as if it were never reconciled.
"""

from __future__ import annotations

import logging
import re
from datetime import datetime
from typing import NamedTuple

from rolecall.clock import time_text
from rolecall.documents import parse_duration
from rolecall.json_object import Json
from rolecall.log_fields import log_fields
from rolecall.reconcile.shortened import one_line
from rolecall.watches import Watch

PREFIX = "ansible.sdk.operatorframework.io"
PERIOD_ANNOTATION = f"{PREFIX}/reconcile-period"
VERBOSITY = f"{PREFIX}/verbosity"
MAX_ARTIFACTS = f"{PREFIX}/max-runner-artifacts"
PAUSED_ANNOTATION = "rolecall.dev/paused"
PAUSED_BY = f"{PAUSED_ANNOTATION}-by"
PAUSED_BECAUSE = f"{PAUSED_ANNOTATION}-because"
PAUSED_SINCE = f"{PAUSED_ANNOTATION}-since"
_LONGEST_NOTE = 200
# A CR that runs more often than this takes a worker for itself.
SHORTEST_PERIOD_S = 1.0

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")

_logger = logging.getLogger(__name__)


def period_of(cr: Json, watch: Watch) -> float:
    """Seconds between runs, 0 or less for none; raises `DurationError`."""
    text = _annotation(cr, PERIOD_ANNOTATION)
    if text is None:
        return watch.reconcile_period_s
    asked_s = parse_duration(text)
    if 0 < asked_s < SHORTEST_PERIOD_S:
        _log_capped(cr, PERIOD_ANNOTATION, text, f"{SHORTEST_PERIOD_S:g}s", "the shortest period")
        return SHORTEST_PERIOD_S
    return asked_s


def verbosity_of(cr: Json, watch: Watch) -> int | None:
    """How many `v` a play gets, at most as many as the watch gives; None: the CR does not say."""
    asked = _integer(cr, VERBOSITY)
    if asked is not None and asked > watch.verbosity:
        _log_capped(cr, VERBOSITY, asked, watch.verbosity, "`--ansible-verbosity` of its kind")
        return watch.verbosity
    return asked


def kept_artifacts_of(cr: Json, watch: Watch) -> int:
    """How many runs keep their artifacts, at most as many as the watch keeps; 0 keeps all."""
    asked, most = _integer(cr, MAX_ARTIFACTS), max(0, watch.max_runner_artifacts)
    if asked is None:
        return most
    asked = max(0, asked)
    if most and (asked == 0 or asked > most):
        _log_capped(cr, MAX_ARTIFACTS, asked, most, "`maxRunnerArtifacts` of its watch")
        return most
    return asked


def is_paused(cr: Json) -> bool:
    return (_annotation(cr, PAUSED_ANNOTATION) or "").lower() == "true"


class PauseNote(NamedTuple):
    """Who paused a CR, when and why; empty where its annotations do not say."""

    by: str
    since: str
    because: str


def pausing(by: str, because: str, since: datetime) -> Json:
    """The patch that pauses a CR and records who did it, when, and why."""
    return _annotated("true", PauseNote(by, time_text(since), because))


def resuming() -> Json:
    return _annotated(None, PauseNote("", "", ""))


def _annotated(paused: str | None, note: PauseNote) -> Json:
    values = {
        PAUSED_ANNOTATION: paused,
        PAUSED_BY: note.by or None,
        PAUSED_SINCE: note.since or None,
        PAUSED_BECAUSE: note.because or None,
    }
    return {"metadata": {"annotations": values}}


def pause_note(cr: Json) -> PauseNote | None:
    """What the annotations of a paused CR say of the pause; None: it is not paused."""
    if not is_paused(cr):
        return None
    found = (_annotation(cr, name) or "" for name in (PAUSED_BY, PAUSED_SINCE, PAUSED_BECAUSE))
    return PauseNote(*(one_line(text, _LONGEST_NOTE) for text in found))


def who_paused(cr: Json) -> str:
    """Who paused it and why, as far as its annotations say."""
    by = _annotation(cr, PAUSED_BY) or "annotation"
    because = _annotation(cr, PAUSED_BECAUSE)
    return one_line(f"{by} ({because})" if because else by, _LONGEST_NOTE)


def is_deleted(cr: Json) -> bool:
    """Whether the CR only waits for its finalizers."""
    return bool(cr["metadata"].get("deletionTimestamp"))


def with_spec(cr: Json) -> Json:
    """The same CR with an empty spec where it has none that is a map."""
    return cr if isinstance(cr.get("spec"), dict) else {**cr, "spec": {}}


def _annotation(cr: Json, name: str) -> str | None:
    value = (cr["metadata"].get("annotations") or {}).get(name)
    return value if isinstance(value, str) else None


def _log_capped(cr: Json, annotation: str, asked: object, used: object, limit: str) -> None:
    metadata = cr["metadata"]
    place = {"namespace": metadata.get("namespace", ""), "name": metadata["name"]}
    fields = {**place, "annotation": annotation, "value": asked, "used": used, "limit": limit}
    _logger.warning("annotation exceeds its limit and was capped", extra=log_fields(**fields))


def _integer(cr: Json, name: str) -> int | None:
    text = _annotation(cr, name)
    if text is None:
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    metadata = cr["metadata"]
    place = {"namespace": metadata.get("namespace", ""), "name": metadata["name"]}
    fields = {**place, "annotation": name, "value": text}
    _logger.warning("annotation is not a whole number and was ignored", extra=log_fields(**fields))
    return None
