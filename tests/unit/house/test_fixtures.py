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

async def stream():
    waiter = asyncio.create_task(asyncio.sleep(60))
    try:
        yield
        yield
    finally:
        waiter.cancel()

async def nested():
    async for each in stream():
        yield each

async def test_stream_in_a_cycle():
    holder = {"stream": nested()}
    holder["itself"] = holder
    await anext(holder["stream"])
"""


@pytest.mark.slow
def test_test_that_leaves_something_behind_fails(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(LEAKING)
    plugins = ["-p", "tests.fixtures.leaks", "-o", "asyncio_mode=auto", "-o", "leak_patience_s=0.1"]
    result = pytester.runpytest_subprocess(*plugins)
    # The test itself passes; the fixture that looks afterwards does not.
    result.assert_outcomes(passed=7, errors=4)
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


SKIPPING = """
import pytest

def test_runs(): pass
@pytest.mark.{mark}
def test_skips(): pytest.skip("not here")
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [pytest.param("0", marks=pytest.mark.nightly), "2"])
@pytest.mark.parametrize(
    ("mark", "required", "code"), [("slow", "1", 1), ("slow", "", 0), ("nightly", "1", 0)]
)
def test_skip_fails_where_all_is_required_unless_it_is_nightly(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    mark: str,
    required: str,
    code: int,
    workers: str,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("REQUIRE_ALL", required)
    pytester.makeini("[pytest]\nmarkers =\n slow: s\n nightly: n")
    pytester.mkpydir("some")
    pytester.mkpydir("some/unit")
    pytester.path.joinpath("some/unit/test_a.py").write_text(SKIPPING.format(mark=mark))
    plugin = "from tests.fixtures import tiers\npytest_configure = tiers.pytest_configure\n"
    pytester.path.joinpath("plugged.py").write_text(plugin)
    result = pytester.runpytest_subprocess(
        "-p", "plugged", "--strict-markers", "-n", workers, "some/unit"
    )
    assert result.ret == code
    said = "error: REQUIRE_ALL=1, but skipped: some/unit/test_a.py::test_skips"
    assert (said in result.outlines) is bool(code)
