"""Counts of groups add up: each is the length of the list that it leads to."""

from __future__ import annotations

from random import Random

import pytest
from tests.unit.extensions.console.page.random_rows import chosen, random_world

from rolecall.extensions.console.page.choosing import ChosenRows
from rolecall.extensions.console.page.grouping import (
    GROUPINGS,
    Group,
    RowGrouping,
    label_of,
)
from rolecall.extensions.console.page.rows import Query, SeenRows
from rolecall.extensions.console.page.views import Groups
from rolecall.workqueue import Key

QUERIES = [
    Query(),
    Query(kind="website"),
    Query(state="failed"),
    Query(failing="yes"),
    Query(failing="no"),
    Query(namespace="shop", name="web"),
    Query(reason="HTTP"),
    Query(cause="edit"),
    Query(name="no such"),
]


def grouped(
    rows: ChosenRows, query: Query, group: str, values: dict[Key, str] | None = None
) -> list[Group]:
    grouping = RowGrouping(rows, query, group, values or {})
    for _ in grouping.steps():
        pass
    return list(grouping.groups)


def labels_of(world: SeenRows, dice: Random) -> dict[Key, str]:
    return {row.key: dice.choice(["web", "db", ""]) for row in world if dice.random() < 0.7}


@pytest.mark.parametrize("number", range(20))
@pytest.mark.parametrize("group", GROUPINGS)
def test_sums_are_the_total_and_each_number_is_that_of_its_list(group: str, number: int) -> None:
    world = random_world(Random(number))
    for query in QUERIES:
        rows = chosen(world, query)
        groups = grouped(rows, query, group)
        assert sum(each.total for each in groups) == len(rows)
        for each in groups:
            listed = chosen(world, each.query).rows
            assert len(listed) == each.total
            for state, count in each.by_state.items():
                assert count == sum(row.state == state for row in listed)


@pytest.mark.parametrize("number", range(5))
def test_groups_of_a_label_add_up_with_those_without_it(number: int) -> None:
    dice = Random(number)
    world = random_world(dice)
    values, rows = labels_of(world, dice), chosen(world, Query())
    groups = grouped(rows, Query(label="tier=x"), "label:app", values=values)
    assert sum(each.total for each in groups) == len(rows)
    assert {each.query.label for each in groups} == {
        "tier=x,app=web",
        "tier=x,app=db",
        "tier=x,app=",
        "tier=x,!app",
    }
    assert {each.name for each in groups} == {"web", "db", "(empty)", "without app"}


@pytest.mark.parametrize("number", range(5))
def test_group_with_most_failures_is_first(number: int) -> None:
    world = random_world(Random(number))
    for group in GROUPINGS:
        failed = [
            each.by_state["failed"] for each in grouped(chosen(world, Query()), Query(), group)
        ]
        assert failed == sorted(failed, reverse=True)


def test_reasons_that_are_not_shown_are_one_group() -> None:
    world = random_world(Random(3))
    world = SeenRows(world.places)
    (group,) = grouped(chosen(world, Query()), Query(), "reason")
    assert (group.name, group.total) == ("not shown to you", len(world))


def test_groups_beyond_what_is_shown_are_counted() -> None:
    dice = Random(5)
    world = random_world(dice, 500)
    rows = chosen(world, Query())
    values = {row.key: row.key.name for row in rows.rows}
    groups = Groups(grouped(rows, Query(), "label:app", values=values))
    assert (len(groups.shown), groups.rest is not None) == (100, True)
    assert groups.rest is not None
    assert sum(each.total for each in groups.shown) + groups.rest.total == groups.sum.total == 500


@pytest.mark.parametrize(
    ("group", "key"),
    [
        ("label:app", "app"),
        ("label:app.kubernetes.io/name", "app.kubernetes.io/name"),
        ("label:", ""),
        ("label:a,b", ""),
        ("label:a=b", ""),
        ("label:!a", ""),
        ("state", ""),
    ],
)
def test_only_a_key_of_a_label_is_asked_for(group: str, key: str) -> None:
    assert label_of(group) == key
