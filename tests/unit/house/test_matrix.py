"""The table of each Python with each ansible-core: which pairs, and what counts as a failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import environments, pythons, test_matrix
from tools.environments import NotMadeError, Pair
from tools.test_matrix import TIERS, Cell, Row

from tests.unit.house import documents

FOUND = {"3.11": "/usr/bin/python3.11", "3.13": "/usr/bin/python3.13"}


def names(pairs: list[Pair]) -> list[str]:
    return [pair.name for pair in pairs]


def answer(monkeypatch: pytest.MonkeyPatch, said: str, code: int = 0) -> None:
    """What each program of a tier says."""
    monkeypatch.setattr(test_matrix, "run", lambda *_: (said, code, 1.0, Path("build/x.log")))
    monkeypatch.setattr(environments, "make", lambda _: Path("python"))


def test_each_python_goes_with_the_cores_that_name_it() -> None:
    pairs = names(test_matrix.all_pairs(FOUND))
    assert pairs[:2] == ["3.11/2.18", "3.11/2.19"]
    assert pairs[-2:] == ["3.14/2.20", "3.14/2.21"]
    assert not {"3.11/2.20", "3.14/2.19"} & set(pairs)


def test_ends_are_the_oldest_and_the_newest_that_this_machine_has() -> None:
    pairs = test_matrix.all_pairs(FOUND)
    assert names(test_matrix.chosen(pairs, [], ends=True)) == ["3.11/2.18", "3.13/2.21"]
    assert test_matrix.chosen(test_matrix.all_pairs({}), [], ends=True) == []


def test_pair_that_cannot_be_is_answered_with_those_that_can() -> None:
    with pytest.raises(SystemExit, match=r"`3\.11/2\.21` is not one of 3\.11/2\.18, "):
        test_matrix.chosen(test_matrix.all_pairs(FOUND), ["3.11/2.21"], ends=False)


def test_missing_python_is_a_line_and_no_failure() -> None:
    row = test_matrix.run_pair(Pair("3.14", "2.21", ""), ["unit"], is_part=False)
    assert row.passed
    assert "not on this machine" in test_matrix.table([row])


def test_environment_that_cannot_be_made_is_a_failure_with_its_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_: Pair) -> Path:
        raise NotMadeError("`uv pip sync`: no such host")

    monkeypatch.setattr(environments, "make", fail)
    row = test_matrix.run_pair(Pair("3.13", "2.21", "/usr/bin/python3.13"), ["unit"], is_part=False)
    assert not row.passed
    assert "no such host" in test_matrix.table([row])


@pytest.mark.parametrize(
    ("said", "code", "strict", "passed"),
    [
        ("450 passed in 12.80s\n", 0, True, True),
        ("==== 1 failed, 449 passed in 75.20s (0:01:15) ====\n", 1, False, False),
        ("449 passed, 1 skipped in 12.80s\n", 0, False, True),
        ("449 passed, 1 skipped in 12.80s\n", 0, True, False),
        ("Segmentation fault\n", 139, False, False),
        ("", 0, False, False),
    ],
)
def test_what_counts_as_a_failure_of_a_tier(
    monkeypatch: pytest.MonkeyPatch, said: str, code: int, strict: bool, passed: bool
) -> None:
    answer(monkeypatch, said, code)
    monkeypatch.setenv("REQUIRE_ALL", "1" if strict else "")
    cell = test_matrix.run_tests(Pair("3.13", "2.21", "x"), Path("python"), TIERS[0], is_part=False)
    assert cell.passed is passed
    assert passed or "see build/x.log" in cell.text


def test_demo_reports_the_way_of_its_runs_and_its_slowest_cr(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer(monkeypatch, "demo: 7 of 7 CRs are Ready, the slowest after 4.10 s; runs: 21 warm\n")
    row = Row(Pair("3.13", "2.21", "x"))
    test_matrix.run_demo(row, Path("python"))
    assert (row.cells["demo"].passed, row.runs, row.slowest) == (True, "21 warm", "4.10 s")
    answer(monkeypatch, "demo: 6 of 7 CRs are Ready\n", 1)
    test_matrix.run_demo(row, Path("python"))
    assert not row.passed


@pytest.mark.parametrize(("required", "code"), [("", 0), ("1", 1)])
def test_one_python_is_enough_except_where_all_is_required(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], required: str, code: int
) -> None:
    answer(monkeypatch, "450 passed in 12.80s\n")
    monkeypatch.setenv("REQUIRE_ALL", required)
    monkeypatch.setattr(pythons, "find_pythons", lambda: {"3.11": "/usr/bin/python3.11"})
    assert test_matrix.main(["--tiers", "unit", "--only", "", "--pythons", ""]) == code
    assert ("two Pythons are required" in capsys.readouterr().out) is bool(code)


def test_table_stands_in_columns() -> None:
    row = Row(Pair("3.13", "2.21", "x"), {"unit": Cell("450 passed in 12 s")}, "21 warm", "4.10 s")
    head, line = test_matrix.table([row]).splitlines()
    assert line.index("21 warm") == head.index("runs")


def test_environments_of_a_clone_that_is_gone_are_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(environments, "default_cache", lambda: tmp_path)
    gone = tmp_path / "matrix" / "gone"
    gone.mkdir(parents=True)
    (gone / "clone").write_text(str(tmp_path / "no-such-clone"))
    own = environments.folder_of_clone()
    assert [path.name for path in (tmp_path / "matrix").iterdir()] == [own.name]


def test_every_path_that_a_tier_names_is_there() -> None:
    words = [word for tier in TIERS for word in (*tier.all, *tier.part, *tier.of_core)]
    paths = [word.partition("::")[0] for word in words if word.startswith("tests/")]
    assert [path for path in paths if not (documents.ROOT / path).exists()] == []
