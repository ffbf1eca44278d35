"""The wire format of metrics that roles set."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.metrics import RoleMetricError, RoleMetrics


def shown(*requests: dict[str, Any]) -> dict[str, str]:
    """The samples after these requests."""
    metrics = RoleMetrics(lambda: 1000.0, taken_names={"taken"})
    for request in requests:
        metrics.apply({"name": "m", "description": "d"} | request)
    lines = metrics.exposition().decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


@pytest.mark.parametrize(
    ("operations", "value"),
    [
        ([{"set": 5}], "5.0"),
        ([{"set": 5}, {"set": 0}], "0.0"),
        ([{"increment": True}], "1.0"),
        ([{"decrement": True}], "-1.0"),
        ([{"add": 2.5}], "2.5"),
        ([{"subtract": 2}], "-2.0"),
        ([{"set_to_current_time": True}], "1000.0"),
        ([{"increment": True, "set": 9}], "1.0"),
        ([{"increment": False, "set": None, "add": 3}], "3.0"),
        ([{"set": 7}, {}], "7.0"),
        ([{"set": 0, "set_to_current_time": True}], "1000.0"),
    ],
)
def test_gauge_does_the_first_operation_that_says_something(
    operations: list[dict[str, Any]], value: str
) -> None:
    assert shown(*({"gauge": operation} for operation in operations)) == {"m": value}


@pytest.mark.parametrize(
    ("operation", "value"),
    [({"increment": True}, "1.0"), ({"add": 4}, "4.0"), ({"increment": True, "add": 4}, "1.0")],
)
def test_counter_keeps_its_name_as_given(operation: dict[str, Any], value: str) -> None:
    assert shown({"counter": operation}) == {"m": value}


def test_histogram_has_the_go_librarys_buckets() -> None:
    samples = shown({"histogram": {"observe": 0.3}}, {"histogram": {"observe": 99}})
    assert samples['m_bucket{le="0.25"}'] == "0"
    assert samples['m_bucket{le="0.5"}'] == "1"
    assert samples['m_bucket{le="10"}'] == "1"
    assert samples['m_bucket{le="+Inf"}'] == "2"
    assert samples["m_sum"] == "99.3"


def test_observation_on_a_boundary_belongs_to_that_bucket() -> None:
    assert shown({"histogram": {"observe": 0.5}})['m_bucket{le="0.5"}'] == "1"


def test_empty_histogram_and_summary_observe_nothing() -> None:
    assert shown({"summary": {}}) == {"m_sum": "0.0", "m_count": "0"}
    assert shown({"histogram": {"observe": None}})["m_count"] == "0"


def test_histogram_and_summary_are_one_kind() -> None:
    samples = shown({"summary": {"observe": 1}}, {"histogram": {"observe": 2}})
    assert samples == {"m_sum": "3.0", "m_count": "2"}


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        ([{}], "a request should contain at least one metric"),
        ([{"gauge": {}, "counter": {}}], "only one metric can be processed at a time"),
        (
            [{"gauge": {"set": 1}}, {"counter": {"add": 1}}],
            "cannot change metric type of m, which is a gauge",
        ),
        ([{"counter": {"add": -1}}], "counter metrics cannot decrease in value"),
        ([{"gauge": {"set": "5"}}], "`set` should be a number"),
        ([{"gauge": 5}], "`name` should be text and `gauge` an object"),
    ],
)
def test_request_that_breaks_a_rule_is_refused(
    requests: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(RoleMetricError) as caught:
        shown(*requests)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["taken", "not valid", "1x", "", "x\n"])
def test_name_that_cannot_be_shown_is_accepted_and_ignored(name: str) -> None:
    assert shown({"name": name, "gauge": {"set": 1}}) == {}


def test_help_stays_one_line_and_that_of_the_first_request() -> None:
    metrics = RoleMetrics(lambda: 0.0)
    metrics.apply({"name": "m", "description": "a\nb", "gauge": {"set": 1}})
    metrics.apply({"name": "m", "description": "other", "gauge": {"set": 2}})
    assert metrics.exposition() == b"# HELP m a\\nb\n# TYPE m gauge\nm 2.0\n"
