"""The fixtures that guard other tests do guard them."""

from __future__ import annotations

import pytest

from tests.fixtures.eventually import NeverCameError, eventually, eventually_async
from tests.unit.house.documents import ROOT

pytest_plugins = ["pytester"]

LEAKING = """
import asyncio, subprocess, tempfile, threading

def test_clean(): pass
def test_process(): globals().update(kept=subprocess.Popen(["sleep", "1"]))
def test_thread(): threading.Thread(target=threading.Event().wait, args=(1,)).start()
def test_file(): tempfile.mkdtemp()
async def test_clean_task(): await asyncio.create_task(asyncio.sleep(0))
async def test_task(): globals().update(task=asyncio.create_task(asyncio.sleep(60)))
"""


def test_test_that_leaves_something_behind_fails(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(LEAKING)
    plugins = ["-p", "tests.fixtures.leaks", "-o", "asyncio_mode=auto", "-o", "leak_patience_s=0.1"]
    result = pytester.runpytest_subprocess(*plugins)
    # The test itself passes; the fixture that looks afterwards does not.
    result.assert_outcomes(passed=6, errors=4)
    for what in ("processes", "threads", "temporary files"):
        result.stdout.fnmatch_lines([f"*{what} were left behind*"])
    result.stdout.fnmatch_lines(["*asyncio tasks were left running*"])


def test_value_that_became_right_is_returned() -> None:
    values = iter([1, 2, 3])
    assert eventually(lambda: next(values), lambda value: value == 3) == 3


def test_last_value_is_shown_when_the_right_one_never_came() -> None:
    with pytest.raises(NeverCameError, match=r"within 0\.05 s; seen last: 'almost'"):
        eventually(lambda: "almost", lambda value: value == "there", timeout_s=0.05)


def test_assertion_in_a_look_means_not_yet() -> None:
    values = iter([1, 2, 3])

    def look() -> bool:
        assert next(values) == 3
        return True

    assert eventually(look)


def test_other_error_in_a_look_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        eventually(lambda: 1 // 0)


async def test_coroutine_may_be_looked_at() -> None:
    values = iter([1, 2, 3])

    async def look() -> int:
        return next(values)

    assert await eventually_async(look, lambda value: value == 3) == 3


ONCE_RED = """
from pathlib import Path
import pytest

def test_flaky(tmp_path_factory):
    seen = Path("seen")
    was_there = seen.exists()
    seen.touch()
    assert was_there, "the first time"

def test_wrong():
    assert False

@pytest.fixture
def broken():
    raise RuntimeError("never set up")

def test_without_fixture(broken):
    pass

@pytest.fixture(scope="session")
def slow_to_come():
    seen = Path("seen too")
    was_there = seen.exists()
    seen.touch()
    assert was_there, "the first time"

def test_shared(slow_to_come):
    pass

def test_shared_too(slow_to_come):
    pass
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2", "--dist", "loadfile")])
@pytest.mark.parametrize(
    ("asked", "outcomes", "told"),
    [
        ("1", {"passed": 3, "failed": 1, "errors": 1}, 4),
        ("", {"passed": 0, "failed": 2, "errors": 3}, 0),
    ],
)
def test_second_try_lets_pass_only_what_passes_then_and_tells_all(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    asked: str,
    outcomes: dict[str, int],
    told: int,
    workers: tuple[str, ...],
) -> None:
    monkeypatch.setenv("SECOND_TRY", asked)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(ONCE_RED)
    result = pytester.runpytest_subprocess("-p", "tests.fixtures.second_try", *workers)
    result.assert_outcomes(**outcomes)
    named = [line for line in result.outlines if "failed first: " in line]
    whole = [line for line in named if line.startswith("=")]
    assert (len(whole), len(named) - len(whole)) == (told, told), "once at the end, once at once"
    assert sum("AssertionError: the first time" in line for line in named) == told // 2


LONG_ONE = """
import pytest

@pytest.mark.long
def test_long(): pass
def test_short(): pass
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2", "--dist", "loadfile")])
def test_files_that_take_long_take_turns_and_those_that_wait_are_named(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeini("[pytest]\nmarkers = long: takes its turn")
    names = ["test_a", "test_b", "test_c", "test_d"]
    pytester.makepyfile(**dict.fromkeys(names, LONG_ONE))
    ran = []
    for turn in ["", "7", "8", "9"]:
        monkeypatch.setenv("TURN", turn)
        result = pytester.runpytest_subprocess("-p", "tests.fixtures.turns", *workers)
        waiting = [line for line in result.outlines if line.startswith("waits ")]
        ran.append(result.parseoutcomes()["passed"] - len(names))
        assert len(waiting) == len(names) - ran[-1]
    assert (ran[0], sorted(ran[1:])) == (4, [1, 1, 2])
