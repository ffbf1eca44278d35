"""How views become HTML: the templates, what they may use, and what all pages have around them.

The markup is in `templates/`; what it prints is made harmless in `markup.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup, escape

from rolecall.cli import CR_STATES
from rolecall.clock import time_text
from rolecall.extensions.console.markup import environment, shortened
from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.charts import ChartMark, seconds_text
from rolecall.extensions.console.page.rows import CrRow
from rolecall.history import KeptRun
from rolecall.workqueue import Key

Html = Markup


@dataclass(frozen=True, slots=True)
class PageLayout:
    """Who reads, and what the page was made at."""

    reader_name: str = ""  # empty: not logged in
    is_local: bool = False
    form_token: str = ""
    position: str = ""  # in the feed
    notice: str = ""  # what a reader must know of this replica
    static: str = ""  # where the style sheet and the script are


def login(
    layout: PageLayout, problem: str = "", *, is_local: bool = False, back: str = "/"
) -> Html:
    return page("login", "Log in", layout, problem=problem, is_local=is_local, back=back)


def error(code: int, what: str, way_out: str, layout: PageLayout) -> Html:
    return page("error", what, layout, code=code, way_out=way_out)


def path_to(key: Key) -> list[tuple[str, str]]:
    """Where a page of a run belongs, as names and addresses."""
    return [("Objects", "/crs"), (str(key), places.of_cr(key))]


def page(
    template: str,
    title: str,
    layout: PageLayout,
    *,
    live: str = "",
    above: Sequence[tuple[str, str]] = (),
    **values: Any,
) -> Html:
    return render(template, title=title, layout=layout, live=live, above=above, **values)


def render(template: str, **values: Any) -> Html:
    return Markup(_TEMPLATES[template].render(values))  # noqa: S704 - of our templates


def _listed(kind: str = "", state: str = "", **more: str) -> str:
    """`more`: other fields of a query."""
    return "/crs?" + encoded({"kind": kind, "state": state, **more})


def encoded(words: dict[str, str]) -> str:
    return urlencode({key: value for key, value in words.items() if value}, errors="replace")


def _what(row: CrRow) -> str:
    match row.state:
        case "running":
            return row.task or "starting"
        case "waiting":
            return _why_it_waits(row)
        case "failed":
            return row.last_reason
        case _:
            return row.last_outcome


def _why_it_waits(row: CrRow) -> str:
    """`dependent: drift of Service a`, `retry 2, after: disk full`."""
    is_said = not row.cause or row.cause.startswith(row.urgency)
    words = row.cause or row.urgency if is_said else f"{row.urgency}: {row.cause}"
    return f"{words}, after: {row.last_reason}" if row.is_failing and row.last_reason else words


def _what_it_did(run: KeptRun) -> str:
    failed = run.failed_task
    said = f"{failed.place} {failed.name}: {failed.message}" if failed else run.reason
    return shortened(said, 500) or f"{len(run.changed_tasks)} changed"


def _drawn(mark: ChartMark) -> Markup:
    """A mark as SVG; here and not in a template, since a page has thousands."""
    title = f"<title>{ENVIRONMENT.filters['value'](mark.title[:500])}</title>" if mark.title else ""
    return Markup(  # noqa: S704 - of our making
        f'<rect x="{mark.x:.1f}" y="{mark.y:.1f}" width="{mark.width:.1f}" height="{mark.height:.1f}"'
        f' class="mark {escape(mark.kind)}">{title}</rect>'
    )


_PAGE = Path(__file__).parents[1]
_STATIC = _PAGE / "static"
ENVIRONMENT = environment(
    _PAGE / "templates",
    values={
        "places": places,
        "scripts": sorted(each.name for each in _STATIC.glob("*.js")),
        # That of all pages comes first: what a view says of itself counts more.
        "style_sheets": sorted(
            (each.name for each in _STATIC.glob("*.css")),
            key=lambda name: (name != "page.css", name),
        ),
        "states": list(CR_STATES),
        "listed": _listed,
        "most_conditions": 100,
        "most_changes": 200,
    },
    filters={
        "shortened": shortened,
        "thousands": "{:,}".format,
        "bytes": lambda size: f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} KB",
        "what": _what,
        "what_it_did": _what_it_did,
        "of_spec": lambda path: "spec" if path == "." else f"spec{path}",
        "spec_value": lambda value: "-" if value is None else str(value)[:500],
        "drawn": _drawn,
        "rfc3339": time_text,
        "hours_minutes": lambda moment: moment.astimezone(UTC).strftime("%H:%M"),
        "weekday": lambda moment: moment.astimezone(UTC).strftime("%a"),
        "seconds_text": seconds_text,
        "began_text": lambda run: time_text(run.began),
    },
)
# Compiled at the start: a reader's first look must not hold up the loop.
_TEMPLATES = {
    name.removesuffix(".html"): ENVIRONMENT.get_template(name)
    for name in ENVIRONMENT.list_templates()
}
