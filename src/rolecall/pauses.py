"""The patch by which a CR is paused or resumed, whoever sends it: a command, or the page."""

from __future__ import annotations

from rolecall.json_object import Json
from rolecall.reconcile import PAUSED_ANNOTATION, PAUSED_BECAUSE, PAUSED_BY


def pausing(by: str, because: str) -> Json:
    """Says who paused it, and why."""
    return _annotated("true", by, because or None)


def resuming() -> Json:
    return _annotated(None, None, None)


def _annotated(paused: str | None, by: str | None, because: str | None) -> Json:
    values = {PAUSED_ANNOTATION: paused, PAUSED_BY: by, PAUSED_BECAUSE: because}
    return {"metadata": {"annotations": values}}
