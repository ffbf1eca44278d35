"""The tool that changes the engine: a toy whose tests miss something has a mutant that lives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tools.mutants.__main__ import ENGINE, ROOMS
from tools.mutants.argued import arguments, gone
from tools.mutants.places import Mutant, Name, mutants_of

from tests.unit.house.documents import ROOT

TOY = '''
LIMIT = 3

def may_go(number: int) -> bool:
    """Docstrings stay."""
    return number < LIMIT

def forever(number: int) -> int:
    while number > 0:
        number -= 1
    return number
'''
TESTS = """
from toy.gate import forever, may_go

def test_two_may_go_and_four_may_not() -> None:
    assert may_go(2) and not may_go(4)

def test_end() -> None:
    assert forever(2) == 0
"""
JUDGE = """
import sys
from pathlib import Path
from tools.mutants.places import mutants_of
from tools.mutants import run, usual
usual.LEAST_LIMIT_S = 3.0
root = Path(sys.argv[1])
mutants = list(mutants_of(root / "toy" / "gate.py", root / "toy"))
for verdict in run.verdicts(mutants, [str(root / "test_gate.py")], root, 2):
    print(verdict.mutant.name.after, "|", verdict.killed_by)
"""


def toy(folder: Path, text: str = TOY) -> list[Mutant]:
    room = folder / "toy"
    room.mkdir(exist_ok=True)
    (room / "__init__.py").touch()
    (room / "gate.py").write_text(text)
    return list(mutants_of(room / "gate.py", room))


def judged(folder: Path, tests: str) -> subprocess.CompletedProcess[str]:
    toy(folder)
    (folder / "test_gate.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]")
    return subprocess.run(
        [sys.executable, "-c", JUDGE, str(folder)],
        cwd=folder,
        env={"PYTHONPATH": f"{ROOT}:{folder}", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_what_tests_miss_lives_and_what_they_see_dies(tmp_path: Path) -> None:
    done = judged(tmp_path, TESTS)
    reported = [line.split(" | ") for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    # The first takes an import of its own.
    assert {after for after, killed_by in reported if killed_by == "None"} == {
        *("LIMIT = 4", "return number <= LIMIT", "number -= 2"),
    }
    assert ["number += 1", "a time limit"] in reported
    assert ["return None", "test_gate.py::test_end"] in reported


def test_tests_that_fail_by_themselves_judge_nothing(tmp_path: Path) -> None:
    done = judged(tmp_path, TESTS.replace("== 0", "== 1"))
    assert done.returncode != 0
    assert "tests fail without any mutant" in done.stderr


def test_mutants_are_named_alike_when_lines_move(tmp_path: Path) -> None:
    before = [mutant.name for mutant in toy(tmp_path)]
    after = toy(tmp_path, "# one more line\n" + TOY)
    assert [mutant.name for mutant in after] == before
    assert len(set(before)) == len(before)


def test_argument_about_what_is_not_there_any_more_is_found(tmp_path: Path) -> None:
    there = {mutant.name for mutant in toy(tmp_path)}
    old = Name("toy/gate.py::may_go", "return number > LIMIT", "return number >= LIMIT")
    assert gone({old: "why"}, "toy", there) == [old]


@pytest.mark.slow
def test_each_equivalent_mutant_is_still_there() -> None:
    argued = arguments()
    files = {name.where.partition("::")[0] for name in argued}
    assert {file.partition("/")[0] for file in files} <= set(ROOMS)
    for file in files:
        path = ENGINE / file
        there = {mutant.name for mutant in mutants_of(path, path.parent)}
        assert gone(argued, file, there) == []
