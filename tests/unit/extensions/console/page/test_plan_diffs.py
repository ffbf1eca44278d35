"""A plan as lines of a diff: bounded, and without secret values."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.extensions.console.page.planned import AT, config_map, note, plan, planned

from rolecall.extensions.console.page.plan_diffs import PlanDiff, diff_of
from rolecall.plan import Certainty


def lines(shown: PlanDiff) -> list[str]:
    return [f"{line.sign} {line.text}" for each in shown.objects for line in each.lines]


def test_change_of_a_value_is_a_line_removed_and_a_line_added() -> None:
    assert lines(diff_of(plan(planned(config_map("a"), config_map("b"))))) == [
        "- .data.conf: a",
        "+ .data.conf: b",
    ]


def test_change_of_a_text_shows_its_lines_that_differ() -> None:
    old = "\n".join(f"line {number}" for number in range(20))
    shown = diff_of(plan(planned(config_map(old), config_map(old.replace("line 9", "new")))))
    assert lines(shown) == [
        "~ .data.conf",
        "~ @@ -8,5 +8,5 @@",
        " line 7",
        " line 8",
        "- line 9",
        "+ new",
        " line 10",
        " line 11",
    ]


def test_objects_that_come_and_go_are_whole() -> None:
    came = diff_of(plan(planned(None, config_map())))
    went = diff_of(plan(planned(config_map(), None, how="pruned")))
    assert lines(came) == [
        "+ metadata:",
        "+   name: conf",
        "+   namespace: shop",
        "+ data:",
        "+   conf: a",
    ]
    assert lines(went) == [line.replace("+", "-", 1) for line in lines(came)]
    assert (came.objects[0].tasks, went.objects[0].tasks) == (str(AT), "no task: pruned")
    assert (came.heading, went.heading) == ("1 to create", "1 to delete")


def test_values_of_secrets_are_not_kept() -> None:
    secret = [config_map(text, kind="Secret") for text in ("SECRET-1", "SECRET-2")]

    def hide(value: Any) -> Any:
        return "<hidden>" if "SEEN" in str(value) else value

    shown = diff_of(
        plan(
            planned(secret[0], secret[1]),
            planned(None, secret[0]),
            planned(secret[1], None),
            planned(
                config_map("a"),
                config_map("SEEN"),
                certainty=Certainty.UNKNOWN,
                why="SEEN",
                hide=hide,
            ),
        )
    )
    assert "SECRET" not in repr(shown) and "SEEN" not in repr(shown)
    assert "+ .data.conf: <hidden, another value>" in lines(shown)


def test_huge_plans_are_cut_and_say_so() -> None:
    text = "\n".join("x" * 5_000 for _ in range(5_000))
    objects = [planned(None, config_map(text)), planned(config_map("a\nb"), config_map(text))]
    shown = diff_of(plan(*objects * 100, notes=(note("wait", "w" * 9_999),) * 99))
    assert (len(shown.objects), shown.more_objects) == (100, 100)
    assert (len(shown.notes), shown.more_notes) == (50, 49)
    assert all(each.is_cut for each in shown.objects)
    kept = sum(len(line.text) for each in shown.objects for line in each.lines)
    assert kept < 70_000
    assert len(repr(shown)) < 300_000


@pytest.mark.parametrize(
    ("made", "heading"),
    [
        (plan(), "nothing to change"),
        (plan(failure="it broke"), "its role failed"),
        (plan(notes=(note("unknown", "a lookup"),)), "unknown"),
    ],
)
def test_heading_says_what_the_plan_comes_to(made: Any, heading: str) -> None:
    assert diff_of(made).heading == heading
