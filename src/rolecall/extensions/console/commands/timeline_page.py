"""A run's timeline as a page: one file, without scripts and without anything from elsewhere.

Names of CRs, tasks and objects are hostile: all text is escaped, and the policy in the page allows the
browser its one style sheet and nothing else. Hence no `style` attributes: bars are drawn as SVG, whose
places are plain numbers. Tasks fold by `details`, which a keyboard works by itself.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from rolecall.extensions.console.commands.record_words import (
    code_of,
    milliseconds,
    outcome_of,
    seen_in,
    target_of,
    title_of,
)
from rolecall.extensions.console.markup import environment
from rolecall.extensions.console.task_times import Axis, on_axis, times_of
from rolecall.record import Phase, RecordedRequest

_TEMPLATES = Path(__file__).parent / "templates"
_OUTCOMES = frozenset({"ok", "changed", "failed", "unreachable", "skipped"})

Mark = tuple[float, float, str]  # where it begins on the axis, how long it is, what it is drawn as


def timeline_page(title: str, about: Sequence[str], phases: Sequence[Phase], axis: Axis) -> str:
    """The whole page; `about` are lines above the axis, the first of them no warning."""
    style = (_TEMPLATES / "timeline.css").read_text()
    return (
        environment(_TEMPLATES)
        .get_template("timeline.html")
        .render(
            title=title,
            about=about,
            axis=axis,
            phases=[_phase(each, axis) for each in phases],
            style=Markup(style),  # noqa: S704 - ours
            digest=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        )
    )


def _phase(phase: Phase, axis: Axis) -> dict[str, Any]:
    ended_s = axis[1] if phase.ended_s is None else phase.ended_s
    outcome, took = outcome_of(phase), milliseconds(ended_s - phase.began_s)
    times = times_of((phase.began_s, ended_s), phase.requests, phase.origin_s)
    kind = outcome if outcome in _OUTCOMES else "other"
    return {
        "title": title_of(phase),
        "how": ", ".join(filter(None, (outcome, took))),
        "mark": _mark(phase.began_s, ended_s, kind, axis),
        "label": times.words if phase.task else f"from {phase.began_s:.3f} s, for {took}",
        "requests": [_request(phase, each, axis) for each in phase.requests],
    }


def _request(phase: Phase, request: RecordedRequest, axis: Axis) -> dict[str, Any]:
    at_s, kind = request.at_s - phase.origin_s, "write" if request.is_write else "read"
    return {
        "what": f"{request.verb} {target_of(request)}",
        "seen": seen_in(request),
        "how": f"{code_of(request)}, {milliseconds(request.seconds)}",
        "mark": _mark(at_s, at_s + request.seconds, kind, axis),
        "label": f"at {at_s:.3f} s",
    }


def _mark(began_s: float, ended_s: float, kind: str, axis: Axis) -> Mark:
    left, right = on_axis((began_s, ended_s), axis)
    return left, right - left, kind
