"""What a proof reports of two runs that are not the same."""

from __future__ import annotations

from typing import Any

from rolecall.runner import Ending, RunResult
from rolecall.runner.warm.proof.both_ways import CASES
from rolecall.runner.warm.proof.difference import first_difference
from rolecall.runner.warm.proof.groups import CaseGroup, GroupOutcome, groups_in

GROUP = CaseGroup("loops", {"cases": {"one": [], "two": []}})


def outcome(*messages: Any, rc: int = 0, tree: dict[str, Any] | None = None) -> GroupOutcome:
    events = [
        {"event": "runner_on_ok", "event_data": {"task": "say", "res": {"msg": message}}}
        for message in messages
    ]
    result = RunResult("run", Ending.FINISHED, rc)
    return GroupOutcome(result, {"head": [], "one": events, "tail": []}, tree=tree or {})


def test_equal_runs_have_nothing_to_report() -> None:
    assert first_difference(GROUP, outcome("a", 1), outcome("a", 1)) is None


def test_case_event_field_and_both_values_are_reported() -> None:
    found = first_difference(GROUP, outcome("a", "b"), outcome("a", "c"))
    assert str(found) == (
        "case `loops: one`, `runner_on_ok` of task `say`, `event_data.res.msg`: "
        "`b` the stock way, `c` warm"
    )


def test_long_values_are_cut_before_they_part() -> None:
    found = first_difference(GROUP, outcome("x" * 5000 + "a"), outcome("x" * 5000 + "b"))
    assert found is not None
    assert found.stock == "..." + "x" * 60 + "a" and found.warm == "..." + "x" * 60 + "b"


def test_what_differs_is_reported_in_one_line() -> None:
    found = first_difference(GROUP, outcome("a\nb"), outcome("a\nc"))
    assert found is not None and found.stock == "a\\nb"


def test_missing_event_and_missing_field_are_reported() -> None:
    found = first_difference(GROUP, outcome("a"), outcome())
    assert found is not None and found.warm == "<nothing>" and "runner_on_ok" in found.event
    found = first_difference(GROUP, outcome({"a": 1}), outcome({"a": 1, "b": 2}))
    assert found is not None and (found.field, found.stock) == ("event_data.res.msg.b", "<nothing>")


def test_exit_status_and_files_count() -> None:
    found = first_difference(GROUP, outcome("a"), outcome("a", rc=2))
    assert found is not None and found.event == "the run's ending" and found.warm == "2"
    found = first_difference(GROUP, outcome(tree={"file": 1}), outcome())
    assert found is not None and found.event == "the run's tree" and found.field == "file"


def test_order_does_not_count_where_a_group_says_so() -> None:
    group = CaseGroup("loops", {"unordered": True, "cases": {"one": []}})
    assert first_difference(group, outcome("a", "b"), outcome("b", "a")) is None


def test_proof_has_some_thirty_cases_and_more() -> None:
    assert sum(len(group.cases) or 1 for group in groups_in(CASES)) >= 30
