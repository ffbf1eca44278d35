"""Which versions an etcd cluster goes to, and how far behind a healthy member may be."""

from __future__ import annotations

import json

import pytest

from tests.unit.roles.filters import role_filter
from tests.unit.roles.test_etcdcluster_filters import members_of, state

target = role_filter("etcdcluster", "etcdcluster_target", "etcdcluster_life")


@pytest.mark.parametrize(
    ("wanted", "running", "is_refused"),
    [
        ("3.6.16", [], False),
        ("3.6.16", ["3.6.16"], False),
        ("3.6.17", ["3.6.16"], False),
        ("3.6.0", ["3.5.35"], False),
        ("3.7.0", ["3.5.35"], True),
        ("4.0.0", ["3.6.16"], True),
        ("3.7.0", ["3.5.35", "3.6.0"], True),
    ],
)
def test_version_goes_up_one_minor_release_at_a_time(
    wanted: str, running: list[str], is_refused: bool
) -> None:
    assert bool(target(wanted, [{"version": one} for one in running], {})["refusal"]) == is_refused


@pytest.mark.parametrize(
    ("wanted", "running", "is_refused"),
    [
        ("3.6.15", ["3.6.16"], False),
        ("3.5.9", ["3.5.35"], False),
        ("3.5.35", ["3.5.35", "3.6.0"], False),
        ("3.5.34", ["3.5.35", "3.6.0"], False),
        ("3.5.35", ["3.6.16"], False),
        ("3.5.35", ["3.7.0"], True),
        ("3.5.35", ["3.6.16", "3.7.0"], True),
        ("3.4.30", ["3.5.35"], True),
    ],
)
def test_version_goes_back_as_far_as_etcd_can(
    wanted: str, running: list[str], is_refused: bool
) -> None:
    refusal = target(wanted, [{"version": one} for one in running], {})["refusal"]
    assert ("go back" in refusal) == is_refused, refusal


@pytest.mark.parametrize("running", ["3.5.9", "3.5.19", "3.5.25"])
def test_release_whose_members_could_turn_into_learners_goes_to_one_that_is_mended_first(
    running: str,
) -> None:
    refusal = target("3.6.16", [{"version": running}], {})["refusal"]
    assert f"from {running} to 3.6.16" in refusal
    assert "3.5.26" in refusal
    assert target("3.6.16", [{"version": "3.5.26"}], {})["refusal"] == ""
    # One that is under way goes on: it could only be left by going back.
    half = [{"version": running}, {"version": "3.6.16"}]
    assert target("3.6.16", half, {})["refusal"] == ""


def test_refused_version_in_mid_upgrade_keeps_the_one_that_was_accepted() -> None:
    half = [{"version": "3.5.35"}, {"version": "3.6.1"}]

    assert target("3.4.0", half, {"targetVersion": "3.6.1"})["version"] == "3.6.1"
    assert target("3.4.0", half, {})["version"] == "3.6.1", "never the lowest that runs"


def test_version_that_no_member_ever_started_can_be_corrected_downwards() -> None:
    said = {"targetVersion": "3.5.99", "members": [{"version": "3.5.1"}]}

    assert target("3.5.2", [{"version": "3.5.1"}], said) == {"version": "3.5.2", "refusal": ""}


def test_version_of_a_member_that_is_down_still_counts() -> None:
    said = {"targetVersion": "3.6.1", "members": [{"version": "3.5.1"}, {"version": "3.6.1"}]}

    assert target("3.7.2", [{"version": ""}, {"version": "3.6.1"}], said)["version"] == "3.6.1"


def test_member_thousands_of_entries_behind_is_not_healthy_in_an_old_cluster() -> None:
    rows = [{"ID": n, "name": f"db-{n - 10}"} for n in (10, 11)]
    states = json.dumps(
        [
            state(10, raftIndex=1_000_000, raftAppliedIndex=1_000_000),
            state(11, raftIndex=1_000_000, raftAppliedIndex=940_000),
        ]
    )

    found = members_of(json.dumps({"members": rows}), states, "db", {})

    assert [one["healthy"] for one in found] == [True, False]
