"""A query finds the rows that it means, in its order, and none by what the reader may not know."""

from __future__ import annotations

from random import Random

import pytest
from tests.unit.extensions.console.page.random_rows import KINDS, chosen, random_world

from rolecall.extending import HeldRun
from rolecall.extensions.console.page.choosing import ROW_SORTS, Choosing
from rolecall.extensions.console.page.rows import (
    CrRow,
    Live,
    PlaceRows,
    Query,
    SeenRows,
)
from rolecall.gvk import Gvk
from rolecall.history import KeptRun
from rolecall.workqueue import Key

SITE, GADGET = KINDS


def row(
    name: str,
    state: str = "ready",
    namespace: str = "shop",
    kind: Gvk = SITE,
    *,
    is_bad: bool | None = None,
) -> CrRow:
    live = Live(0.0, "edit of spec") if state in ("running", "waiting") else None
    is_bad = state == "failed" if is_bad is None else is_bad
    run = KeptRun("1", outcome="failed" if is_bad else "succeeded", reason="Disk full" * is_bad)
    return CrRow(Key(kind, namespace, name), state, 1, live, HeldRun.of(run))


ROWS = [
    row("web-1"),
    row("web-2", "failed"),
    row("db", "running", "bank"),
    row("web-1", "waiting", kind=GADGET),
    row("cluster", "paused", "", GADGET),
]


RETRIED = [row(f"web-{state}", state, is_bad=True) for state in ("waiting", "running", "paused")]


def seen(*more: CrRow, with_log: bool = True) -> SeenRows:
    places: dict[tuple[Gvk, str], PlaceRows] = {}
    for each in (*ROWS, *more):
        where = each.key.gvk, each.key.namespace
        places.setdefault(where, PlaceRows(*where)).add(each)
    return SeenRows(list(places.values()), frozenset(places) if with_log else frozenset())


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        (Query(), [1, 2, 3, 4, 0]),
        (Query(kind="website"), [1, 2, 0]),
        (Query(kind="Web"), []),
        (Query(name="WEB"), [1, 3, 0]),
        (Query(namespace="bank"), [2]),
        (Query(namespace="ban"), []),
        (Query(namespace="-"), [4]),
        (Query(state="failed"), [1]),
        (Query(state="no-such"), []),
        (Query(kind="Website", name="1", namespace="shop", state="ready"), [0]),
        (Query(name=".*"), []),
        (Query(reason="DISK"), [1]),
        (Query(cause="of SPEC"), [2, 3]),
        (Query(same="=Disk full"), [1]),
        (Query(same="="), [2, 3, 4, 0]),
        (Query(same="!"), []),
        (Query(same="x"), []),
        (Query(sort="name"), [4, 2, 0, 3, 1]),
        (Query(sort="-name"), [1, 3, 0, 2, 4]),
        (Query(sort="bogus"), [1, 2, 3, 4, 0]),
    ],
)
def test_query_means_these_in_this_order(query: Query, numbers: list[int]) -> None:
    assert list(chosen(seen(), query).rows) == [ROWS[number] for number in numbers]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (Query(failing="yes"), ["web-2", "web-running", "web-waiting"]),
        (Query(failing="yes", state="waiting"), ["web-waiting"]),
        (Query(failing="yes", namespace="bank"), []),
        (Query(failing="yes", same="=Disk full"), ["web-2", "web-running", "web-waiting"]),
        (Query(failing="no", namespace="shop"), ["web-1", "web-1", "web-paused"]),
        (Query(failing="maybe"), []),
        (Query(namespace="shop", kind="Website"), ["web-2", "web-running", "web-waiting"]),
    ],
)
def test_what_failed_and_is_tried_again_is_failing_and_among_the_first(
    query: Query, names: list[str]
) -> None:
    found = [each.key.name for each in chosen(seen(*RETRIED), query).rows]
    assert found[: len(names)] == names
    assert found == names or not query.failing


@pytest.mark.parametrize(
    "query", [Query(reason="disk"), Query(cause="edit"), Query(same="="), Query(same="=Disk full")]
)
def test_row_whose_log_is_not_shown_is_not_found_by_it(query: Query) -> None:
    assert len(chosen(seen(with_log=False), query)) == 0


def test_rows_whose_reasons_are_not_shown_can_be_asked_for() -> None:
    assert len(chosen(seen(with_log=False), Query(same="!"))) == len(ROWS)


def test_window_has_no_run_content_without_the_right() -> None:
    (failed, running, *_) = chosen(seen(with_log=False), Query()).window(0, 9)
    assert (failed.last_reason, failed.last_outcome, failed.state) == ("", "failed", "failed")
    assert running.cause == ""


def test_label_of_one_kind_says_nothing_of_another_with_the_same_name() -> None:
    assert list(chosen(seen(), Query(label="x"), frozenset({ROWS[0].key})).rows) == [ROWS[0]]
    assert len(chosen(seen(), Query(label="x"), frozenset())) == 0


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("sort", ROW_SORTS)
def test_order_is_that_of_the_values_and_rows_without_one_are_last(sort: str, number: int) -> None:
    world = random_world(Random(number))
    value = ROW_SORTS[sort].value
    for query, is_down in ((Query(sort=sort), False), (Query(sort=f"-{sort}"), True)):
        rows = chosen(world, query).rows
        values = [value(row) for row in rows]
        having = [each for each in values if each is not None]
        assert having == sorted(having, reverse=is_down)
        assert values[len(having) :] == [None] * (len(values) - len(having))
        assert sorted(row.key for row in rows) == sorted(row.key for row in world)


def test_reasons_that_differ_in_names_and_ids_are_the_same() -> None:
    def reason(name: str, text: str) -> str:
        run = HeldRun.of(KeptRun("1", outcome="failed", reason=text))
        return CrRow(Key(SITE, "shop", name), "failed", 1, None, run).plain_reason

    first = reason("website-a", "Pod website-a-7d9f-x2 in shop:  10.0.0.1 refused, exit code 137")
    second = reason("other", "Pod other-6c4-b8 in shop: 10.2.0.44 refused,\texit code 137")
    assert first == second == "Pod … in …: … refused, exit code 137"
    assert reason("a", "HTTP 404") != reason("a", "HTTP 500")
    assert reason("a", "") == ""


def test_ten_thousand_rows_are_chosen_in_many_short_steps() -> None:
    world = random_world(Random(1), 10_000)
    assert sum(1 for _ in Choosing(world, Query(name="web", sort="-took")).steps()) >= 20
