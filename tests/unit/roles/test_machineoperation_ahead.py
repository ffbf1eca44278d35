"""Whose turn it is at a machine."""

from __future__ import annotations

from typing import Any

from tests.unit.roles.filters import role_filter

ahead = role_filter("machineoperation", "machineoperation_ahead")


def operation(
    name: str, phase: str = "", *, created: str = "01", machine: str = "box", going: bool = False
) -> dict[str, Any]:
    metadata = {"name": name, "uid": name, "creationTimestamp": f"2026-01-01T00:00:{created}Z"}
    if going:
        metadata["deletionTimestamp"] = "2026-01-01T00:01:00Z"
    found: dict[str, Any] = {"metadata": metadata, "spec": {"machine": machine}}
    return found | ({"status": {"phase": phase}} if phase else {})


def test_oldest_of_those_that_wait_goes_first() -> None:
    first, second = operation("b", created="01"), operation("a", created="02")

    assert ahead([first, second], first) == []
    assert ahead([first, second], second) == ["b"]


def test_name_decides_between_operations_of_the_same_second() -> None:
    assert ahead([operation("a"), operation("b")], operation("b")) == ["a"]


def test_running_operation_goes_before_an_older_one_that_waits() -> None:
    assert ahead([operation("b", "Running", created="02")], operation("a", created="01")) == ["b"]


def test_ended_and_deleted_operations_and_other_machines_do_not_count() -> None:
    others = [
        operation("done", "Succeeded"),
        operation("lost", "Failed"),
        operation("going", "Running", going=True),
        operation("elsewhere", "Running", machine="other"),
    ]

    assert ahead(others, operation("me", created="09")) == []


def test_of_two_that_started_in_the_same_instant_exactly_one_steps_back() -> None:
    first, second = operation("a", "Running", created="01"), operation("b", "Running", created="02")

    assert ahead([first, second], first) == []
    assert ahead([first, second], second) == ["a"]
