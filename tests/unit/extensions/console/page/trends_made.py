"""Trends and failing CRs of a test's making."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from rolecall.extending import HeldRun
from rolecall.extensions.console.page.rows import Counts, CrRow, Live, PlaceRows, SeenRows
from rolecall.extensions.console.page.trends import Interval, SeenTrends, TrendSpan
from rolecall.extensions.console.page.views import OverviewPage, PageLayout, Replica
from rolecall.gvk import Gvk
from rolecall.history import KeptRun
from rolecall.workqueue import Key

NOW = datetime(2026, 11, 28, 16, tzinfo=UTC)
WEBSITE, DATABASE = (Gvk("demo.example.com", "v1", kind) for kind in ("Website", "Database"))
LAYOUT = PageLayout(static="/static/0a")
REPLICA = Replica("1", "pod", "", works=True, leader="", part="", server="", runs_a_minute=0)


def made_trends(
    by_kind: Mapping[Gvk, Sequence[Interval]], span: TrendSpan = TrendSpan.HOUR, **more: Any
) -> SeenTrends:
    """As much is known as the span shows, where nothing else is said; `all` is the first kind's."""
    begin = NOW - timedelta(seconds=span.intervals * span.interval_s)
    of_all = next(iter(by_kind.values()), (Interval(),) * span.intervals)
    values = {"since": begin, "is_reading": False, "all": of_all, "by_kind": by_kind, **more}
    return SeenTrends(span, NOW, **values)


def overview_of(trends: SeenTrends, **more: Any) -> OverviewPage:
    counts = Counts({gvk: Counter({"ready": 2}) for gvk in trends.by_kind})
    return OverviewPage(**{"counts": counts, "replica": REPLICA, "trends": trends, **more})


def failed_row(name: str, reason: str, minutes_ago: float = 0, namespace: str = "shop") -> CrRow:
    ended = NOW - timedelta(minutes=minutes_ago)
    run = KeptRun(f"run-of-{name}", ended=ended, outcome="failed", reason=reason)
    return CrRow(Key(WEBSITE, namespace, name), "failed", 1, last=HeldRun.of(run))


def running_row(name: str) -> CrRow:
    live = Live(NOW.timestamp(), "", run="7", task="build")
    return failed_row(name, "")._replace(state="running", live=live)


def rows_of(rows: Sequence[CrRow], namespaces_with_log: Sequence[str] = ("shop",)) -> SeenRows:
    places: dict[str, PlaceRows] = {}
    for row in rows:
        namespace = row.key.namespace
        places.setdefault(namespace, PlaceRows(WEBSITE, namespace)).add(row)
    with_log = frozenset((WEBSITE, each) for each in namespaces_with_log)
    return SeenRows(list(places.values()), with_log)
