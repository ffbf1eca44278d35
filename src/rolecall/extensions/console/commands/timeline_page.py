"""A run's timeline as a page: one file, without scripts and without anything from elsewhere.

Names of CRs, tasks and objects are hostile: all text is escaped, and the policy in the page allows the
browser its one style sheet and nothing else. Hence no `style` attributes: bars are drawn as SVG, whose
places are plain numbers. Tasks fold by `details`, which a keyboard works by itself.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape

from rolecall.extensions.console.commands.record_words import (
    code_of,
    milliseconds,
    outcome_of,
    seen_in,
    target_of,
    title_of,
)
from rolecall.plain_text import plain
from rolecall.record import Phase, RecordedRequest

# A bar that is nothing would not be seen; of the axis' thousand parts.
_LEAST = 3.0
_PARTS = 1000.0
_STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--paper:#fff;--rule:#d0d7de;
--ok:#2da44e;--changed:#bf8700;--failed:#cf222e;--other:#6e7781;--read:#0969da;--write:#bc4c00}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--paper:#0d1117;--rule:#3d444d;
--ok:#3fb950;--changed:#d29922;--failed:#f85149;--other:#9198a1;--read:#58a6ff;--write:#f0883e}}
body{margin:1.5rem;font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.25rem;overflow-wrap:anywhere}
p,dt,figcaption{color:var(--soft)}
.note{color:var(--failed)}
details,.row{border-top:1px solid var(--rule)}
summary,.row{display:grid;grid-template-columns:minmax(12rem,2fr) 8rem 3fr;gap:.75rem;padding:.25rem 0;
align-items:center}
summary{cursor:pointer}
summary:focus-visible{outline:2px solid var(--read);outline-offset:2px}
.row{font-size:.85rem;padding-left:1.25rem}
.what{overflow-wrap:anywhere}
.what small{display:block;color:var(--soft)}
.how{text-align:right;font-variant-numeric:tabular-nums;color:var(--soft)}
svg{width:100%;height:1.1em;display:block;background:color-mix(in srgb,var(--rule) 35%,transparent)}
.ok{fill:var(--ok)}.changed{fill:var(--changed)}.failed,.unreachable{fill:var(--failed)}
.skipped,.other{fill:var(--other)}.read{fill:var(--read)}.write{fill:var(--write)}
@media print{details{break-inside:avoid}}
"""
_POLICY = "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
_OUTCOMES = frozenset({"ok", "changed", "failed", "unreachable", "skipped"})


def timeline_page(
    title: str, about: Sequence[str], phases: Sequence[Phase], axis: tuple[float, float]
) -> str:
    """The whole page; `about` are lines above the axis, the first of them no warning."""
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = _POLICY.format(digest=digest)
    told = [
        f"<p{'' if not number else ' class=note'}>{_text(line)}</p>"
        for number, line in enumerate(about)
    ]
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_text(title)}</title>\n<style>{_STYLE}</style></head><body>",
            f"<main><h1>{_text(title)}</h1>",
            *told,
            f"<p>The axis is from {axis[0]:.3f} s to {axis[1]:.3f} s after the run began.</p>",
            *(_phase(phase, axis) for phase in phases),
            "</main></body></html>\n",
        ]
    )


def _phase(phase: Phase, axis: tuple[float, float]) -> str:
    ended_s = axis[1] if phase.ended_s is None else phase.ended_s
    outcome = outcome_of(phase)
    kind = outcome if outcome in _OUTCOMES else "other"
    took = milliseconds(ended_s - phase.began_s)
    bar = _bar([(phase.began_s, ended_s, kind)], axis, f"from {phase.began_s:.3f} s, for {took}")
    marks = [_mark(phase, each) for each in phase.requests]
    requests = _bar(marks, axis, f"{len(marks)} requests") if marks else ""
    told = ", ".join(filter(None, (outcome, took)))
    head = (
        f'<span class="what">{_text(title_of(phase))}</span><span class="how">{_text(told)}</span>'
    )
    rows = "".join(_request(phase, each, axis) for each in phase.requests)
    drawn = f"<span>{bar}{requests}</span>"
    if not rows:
        return f'<div class="row">{head}{drawn}</div>'
    return f"<details open><summary>{head}{drawn}</summary>{rows}</details>"


def _request(phase: Phase, request: RecordedRequest, axis: tuple[float, float]) -> str:
    seen = seen_in(request)
    small = f"<small>{_text(seen)}</small>" if seen else ""
    what = f"{request.verb} {target_of(request)}"
    how = f"{code_of(request)}, {milliseconds(request.seconds)}"
    bar = _bar([_mark(phase, request)], axis, f"at {request.at_s - phase.origin_s:.3f} s")
    return (
        f'<div class="row"><span class="what">{_text(what)}{small}</span>'
        f'<span class="how">{_text(how)}</span><span>{bar}</span></div>'
    )


def _mark(phase: Phase, request: RecordedRequest) -> tuple[float, float, str]:
    at_s = request.at_s - phase.origin_s
    return at_s, at_s + request.seconds, "write" if request.is_write else "read"


def _bar(marks: Sequence[tuple[float, float, str]], axis: tuple[float, float], label: str) -> str:
    scale = _PARTS / max(axis[1] - axis[0], 0.001)
    drawn = []
    for began_s, ended_s, kind in marks:
        wide = min(_PARTS, max(_LEAST, (ended_s - began_s) * scale))
        start = min(_PARTS - wide, max(0.0, (began_s - axis[0]) * scale))
        drawn.append(f'<rect x="{start:.1f}" width="{wide:.1f}" height="10" class="{kind}"/>')
    named = f'role="img" aria-label="{_text(label)}"'
    svg = f'<svg viewBox="0 0 1000 10" preserveAspectRatio="none" {named}>'
    return f"{svg}{''.join(drawn)}</svg>"


def _text(text: str) -> str:
    """In one line, without what turns the direction of writing round."""
    return escape(plain(text))
