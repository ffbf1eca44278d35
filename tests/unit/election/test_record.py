"""A Lease as data, in the shape that every Kubernetes component reads."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rolecall.election import (
    duration_of,
    holder_of,
    is_released,
    new_lease,
    released,
    renewed,
    taken,
)

NOW = datetime(2026, 11, 21, 9, 0, 0, 250, tzinfo=UTC)
LATER = NOW + timedelta(seconds=2)
MADE = "2026-11-21T09:00:00.000250Z"
SAID_LATER = "2026-11-21T09:00:02.000250Z"


def test_first_version_is_that_of_every_component() -> None:
    assert new_lease("ns", "app", "a", 15.0, NOW) == {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "app", "namespace": "ns"},
        "spec": {
            "holderIdentity": "a",
            "leaseDurationSeconds": 15,
            "acquireTime": MADE,
            "renewTime": MADE,
            "leaseTransitions": 0,
        },
    }


def test_renewal_changes_one_time_and_nothing_else() -> None:
    first = new_lease("ns", "app", "a", 15.0, NOW)
    first["spec"]["strategy"] = "x"

    again = renewed(first, LATER)

    assert again == {**first, "spec": {**first["spec"], "renewTime": SAID_LATER}}


@pytest.mark.parametrize(("before", "after"), [(4, 5), (0, 1), (None, 1), ("many", 1)])
def test_lease_that_changes_hands_counts_it_and_reports_since_when(before: Any, after: int) -> None:
    lease = new_lease("ns", "app", "a", 15.0, NOW)
    lease["spec"]["leaseTransitions"] = before

    assert taken(lease, "b", 20.0, LATER)["spec"] == {
        "holderIdentity": "b",
        "leaseDurationSeconds": 20,
        "acquireTime": SAID_LATER,
        "renewTime": SAID_LATER,
        "leaseTransitions": after,
    }


def test_released_lease_has_no_holder_and_one_second_and_is_known_by_both() -> None:
    lease = released(new_lease("ns", "app", "a", 15.0, NOW), LATER)

    assert is_released(lease)
    assert lease["spec"]["holderIdentity"] == ""
    assert lease["spec"]["leaseDurationSeconds"] == 1
    assert lease["spec"]["renewTime"] == SAID_LATER
    assert lease["spec"]["acquireTime"] == MADE
    assert not is_released({"spec": {**lease["spec"], "holderIdentity": "a"}})
    assert not is_released({"spec": {**lease["spec"], "leaseDurationSeconds": 15}})


@pytest.mark.parametrize(("seconds", "whole"), [(0.2, 1), (0.0, 1), (1.6, 2), (15.4, 15)])
def test_duration_is_reported_in_whole_seconds_and_is_never_none(
    seconds: float, whole: int
) -> None:
    lease = new_lease("ns", "app", "a", seconds, NOW)

    assert lease["spec"]["leaseDurationSeconds"] == whole
    assert duration_of(lease) == float(whole)


@pytest.mark.parametrize(
    "lease", [{}, {"spec": None}, {"spec": "x"}, {"spec": {"holderIdentity": None}}]
)
def test_lease_without_a_valid_spec_has_no_holder_and_promises_nothing(lease: Any) -> None:
    assert holder_of(lease) == ""
    assert duration_of(lease) == 0.0
    assert not is_released(lease)
    assert taken(lease, "b", 15.0, NOW)["spec"]["leaseTransitions"] == 1


@pytest.mark.parametrize("said", ["60", None, [60]])
def test_duration_that_is_no_number_promises_nothing(said: Any) -> None:
    assert duration_of({"spec": {"leaseDurationSeconds": said}}) == 0.0
    assert duration_of({"spec": {"leaseDurationSeconds": 7.5}}) == 7.5
