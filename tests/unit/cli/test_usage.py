"""`rolecall usage` reports what runs cost whom, for people, programs and spreadsheets."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest

from rolecall.extensions.usage import CrOfRuns, Usage, UsageLedger
from tests.unit.cli.fake_engine import FakeEngine

NOW = datetime.now(UTC)
SHOP = CrOfRuns("example.com/v1", "Website", "shops", "shop")
BLOG = CrOfRuns("example.com/v1", "Website", "blogs", "blog")
ROLE = CrOfRuns("rbac.authorization.k8s.io/v1", "ClusterRole", "", '=cmd|"/C calc"!A1')


def with_usage(engine: FakeEngine) -> None:
    ledger = UsageLedger(engine.root)
    ledger.add([(SHOP, Usage(9, 0, 90.0, 9.0, 9, 9))], NOW - timedelta(days=3))
    ledger.add([(SHOP, Usage(2, 1, 3.0, 1.5, 20, 4)), (BLOG, Usage(1, 0, 1.0, 0.5, 7, 2))], NOW)


def test_what_costs_most_comes_first_with_a_total(engine: FakeEngine) -> None:
    with_usage(engine)
    said = engine.rolecall("usage").stdout.splitlines()
    assert [line.split() for line in said] == [
        ["NAMESPACE", "RUNS", "FAILED", "SECONDS", "CPU", "SHARE", "REQUESTS", "OBJECTS"],
        ["shops", "2", "1", "3.0", "1.5", "75%", "20", "4"],
        ["blogs", "1", "0", "1.0", "0.5", "25%", "7", "2"],
        ["total", "3", "1", "4.0", "2.0", "100%", "27", "6"],
    ]


@pytest.mark.parametrize(
    ("by", "first"),
    [("kind", "Website.example.com"), ("cr", "Website/shop"), ("namespace", "shops")],
)
def test_groups_are_named_as_kubectl_would(engine: FakeEngine, by: str, first: str) -> None:
    with_usage(engine)
    assert engine.rolecall("usage", "--by", by).stdout.splitlines()[1].split()[0] == first


def test_time_and_namespace_choose_what_counts(engine: FakeEngine) -> None:
    with_usage(engine)
    words = ("usage", "--since", "5d", "-n", "shops", "-o", "json")
    found = json.loads(engine.rolecall(*words).stdout)
    assert found["by"] == "namespace"
    assert found["rows"] == [
        {
            "namespace": "shops",
            **{"crs": 1, "runs": 11, "failed": 1, "seconds": 93.0, "cpu_seconds": 10.5},
            **{"requests": 29, "objects": 4},
        }
    ]
    assert found["total"]["runs"] == 11
    assert found["since"] < found["until"]


def test_spreadsheet_gets_no_formula_from_a_name(engine: FakeEngine) -> None:
    UsageLedger(engine.root).add([(ROLE, Usage(1, 0, 1.0, 0.5, 7, 0))], NOW)
    said = engine.rolecall("usage", "--by", "cr", "-o", "csv").stdout
    head, row = csv.reader(io.StringIO(said))
    assert head[:4] == ["api_version", "kind", "namespace", "name"]
    assert row[3] == '\'=cmd|"/C calc"!A1'
    assert row[4:] == ["1", "1", "0", "1.0", "0.5", "7", "0"]


@pytest.mark.parametrize("since", ["x", "0s", "-5m", "5", "41d", "9999999h"])
def test_time_that_is_none_is_refused_with_the_way_out(engine: FakeEngine, since: str) -> None:
    said = engine.rolecall("usage", f"--since={since}")
    assert said.returncode == 2
    assert f"`{since}`" in said.stderr
    assert "hint: use a number and a unit" in said.stderr


def test_usage_is_there_when_the_operator_is_gone(ended_engine: FakeEngine) -> None:
    with_usage(ended_engine)
    said = ended_engine.rolecall("usage", "--artifacts-dir", str(ended_engine.root))
    assert "shops" in said.stdout


def test_nothing_that_is_kept_is_said(engine: FakeEngine) -> None:
    assert engine.rolecall("usage").stdout == "no usage is kept of this time\n"
