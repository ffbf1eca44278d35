"""CRs that fail, as entries of one reason each: a storm of five hundred is one entry. One that failed
and is tried again fails until that succeeds.

Reasons are run content: where a reader may not read logs, all failed CRs of a kind are one entry that
has none.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from heapq import nlargest
from operator import itemgetter

from rolecall.extensions.console.page.choosing import SAME_REASON, UNSEEN_REASON
from rolecall.extensions.console.page.rows import (
    FAILED_OUTCOMES,
    CrRow,
    SeenRows,
    without_run_content,
)
from rolecall.gvk import Gvk
from rolecall.history import KeptRun
from rolecall.workqueue import Key

MOST_ENTRIES = 20
MOST_EXAMPLES = 3
_MOST_HELD = 1000
_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class FailingSince:
    """How many kept runs in a row failed, and when the first of them ended."""

    tries: int = 0
    began: datetime | None = None
    is_known: bool = True  # else it may have failed before what is kept


@dataclass(frozen=True, slots=True)
class FailureEntry:
    """The CRs of one kind that fail for one reason."""

    gvk: Gvk
    count: int
    newest: Sequence[CrRow]  # examples
    may_read_log: bool
    run: KeptRun | None = None  # the last one of the newest, where its log may be read
    since: FailingSince = FailingSince()

    @property
    def same(self) -> str:
        """Finds them among all that fail (see `choosing.py`)."""
        return f"{SAME_REASON}{self.newest[0].plain_reason}" if self.may_read_log else UNSEEN_REASON


@dataclass(frozen=True, slots=True)
class FailureEntries:
    """What fails: the newest entries, and how many CRs and entries there are."""

    entries: Sequence[FailureEntry] = ()
    by_state: Counter[str] = field(default_factory=Counter)
    more: int = 0  # entries

    @property
    def crs(self) -> int:
        return self.by_state.total()


def grouped(rows: SeenRows) -> FailureEntries:
    """Newest first, from rows alone; of thousands it takes some milliseconds."""
    by_kind: dict[Gvk, dict[str | None, list[CrRow]]] = {}
    for place in rows.places:
        groups = by_kind.setdefault(place.gvk, {})
        may_read_log = (place.gvk, place.namespace) in rows.with_log
        for reason, failed in place.failing.items():
            groups.setdefault(reason if may_read_log else None, []).extend(failed)
    found = [
        (max(map(_ended, failed)), gvk, failed, reason is not None)
        for gvk, groups in by_kind.items()
        for reason, failed in groups.items()
    ]
    newest = nlargest(MOST_ENTRIES, found, key=itemgetter(0))
    entries = [_entry(gvk, failed, has_log=has_log) for _, gvk, failed, has_log in newest]
    by_state = Counter(row.state for _, _, failed, _ in found for row in failed)
    return FailureEntries(entries, by_state, len(found) - len(newest))


def _ended(row: CrRow) -> float:
    return row.facts.ended_s or 0.0


def _entry(gvk: Gvk, failed: Sequence[CrRow], *, has_log: bool) -> FailureEntry:
    newest = nlargest(MOST_EXAMPLES, failed, key=_ended)
    shown = newest if has_log else [without_run_content(row) for row in newest]
    return FailureEntry(gvk, len(failed), shown, has_log)


@dataclass(slots=True)
class FailureReasons:
    """Adds what files of runs say; of a run that was looked at, they are not read again."""

    last_run: Callable[[Key], KeptRun | None]  # both read files
    kept_runs: Callable[[Key], Sequence[KeptRun]]
    _since: OrderedDict[tuple[Key, str], FailingSince] = field(default_factory=OrderedDict)

    def whole(self, failures: FailureEntries) -> FailureEntries:
        """With reasons in full; in a thread."""
        return replace(failures, entries=[self._whole(each) for each in failures.entries])

    def _whole(self, failure: FailureEntry) -> FailureEntry:
        if not failure.may_read_log:
            return failure
        since = [self._failing_since(row) for row in failure.newest]
        first = min(since, key=lambda each: each.began or _NEVER)
        run = self.last_run(failure.newest[0].key)
        if run is not None and run.outcome not in FAILED_OUTCOMES:
            run = None  # it ended well since the rows were made
        return replace(failure, run=run, since=first)

    def _failing_since(self, row: CrRow) -> FailingSince:
        what = row.key, row.last_run
        found = self._since.pop(what, None) or _in_a_row(self.kept_runs(row.key))
        self._since[what] = found
        if len(self._since) > _MOST_HELD:
            self._since.popitem(last=False)
        return found


def _in_a_row(runs: Sequence[KeptRun]) -> FailingSince:
    """`runs`: newest first."""
    since = FailingSince(is_known=False)
    for run in runs:
        if run.outcome == "succeeded":
            return replace(since, is_known=True)
        if run.outcome in FAILED_OUTCOMES:
            since = FailingSince(since.tries + 1, run.ended or run.began, is_known=False)
    return since
