"""A run that waits says so, wherever it waits, and goes on only with a slot."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rolecall.runner import Ending
from tests.play.warm.runs import KeptHosts, Tasks, Workshop, debug, marked, shell, until, workshop

SHORT_S = 3.0


class Slot:
    """The slot of a run: it gets one when the test says so."""

    def __init__(self, *, is_given: bool = True) -> None:
        self.said: list[str] = []
        self._is_given = is_given
        self._asking: list[Callable[[], None]] = []

    def leave(self) -> None:
        self.said.append("leave")

    def want(self, on_given: Callable[[], None]) -> None:
        self.said.append("want")
        self._asking.append(on_given)
        if self._is_given:
            self.give()

    def give(self) -> None:
        self._is_given = True
        while self._asking:
            self._asking.pop()()


def task(module: str, **more: Any) -> dict[str, Any]:
    return {"name": module, f"ansible.builtin.{module}": more}


def tries(**more: Any) -> dict[str, Any]:
    """The second try comes half a second after the first."""
    text = "{{ 'yes' if tried is defined else 'no' }}"
    return {**debug(text), "register": "tried", "retries": 2, "delay": 0.5, **more}


WAITS: dict[str, Tasks] = {
    "pause": [task("pause", seconds=1)],
    "until": [tries(until="tried.attempts == 2")],
    "loop_control": [{**debug("x"), "loop": [1, 2], "loop_control": {"pause": 1}}],
    "module": [task("wait_for", timeout=1)],
    "program": [shell("sleep 1")],
    "async": [{**shell("sleep 2"), "async": 60, "poll": 1}],
}


async def waits(shop: Workshop, slot: Slot, tasks: Tasks, name: str = "waits") -> list[str]:
    """What is said of a slot by a run of these tasks."""
    result = await shop.run(shop.role(name, [*tasks, debug("after")]), slot=slot)
    assert (result.succeeded, result.way) == (True, "warm")
    return slot.said


async def test_run_leaves_its_slot_while_it_waits_and_takes_one_before_its_next_task(
    tmp_path: Path,
    kept: KeptHosts,
) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        for name, tasks in WAITS.items():
            said = await waits(shop, Slot(), tasks, name)
            assert said and set(zip(said[::2], said[1::2], strict=True)) == {("leave", "want")}, (
                name
            )


async def test_run_that_computes_says_nothing(tmp_path: Path, kept: KeptHosts) -> None:
    busy = "n=0; while [ $n -lt 400000 ]; do n=$((n+1)); done"
    async with workshop(tmp_path, kept=kept) as shop:
        assert await waits(shop, Slot(), [shell(busy), debug("soon")]) == []


async def test_run_without_a_slot_waits_as_it_always_did(tmp_path: Path, kept: KeptHosts) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        result = await shop.run(shop.role("waits", WAITS["pause"]))
        assert result.succeeded


@pytest.mark.nightly
async def test_run_stands_still_until_it_has_a_slot_and_no_time_limit_goes_on(
    tmp_path: Path,
    kept: KeptHosts,
) -> None:
    slot = Slot(is_given=False)
    tasks = [*WAITS["until"], shell("touch {{ work }}/went-on")]
    async with workshop(tmp_path, kept=kept) as shop:
        await shop.run(shop.role("fine", [debug("fine")]))
        role, limits = shop.role("waits", tasks), {"timeout_s": SHORT_S}
        handle, _ = await shop.start(role, slot=slot, no_progress_timeout_s=SHORT_S, **limits)
        began = time.monotonic()
        await until(lambda: slot.said == ["leave", "want"], "it to ask for a slot")
        await until(lambda: time.monotonic() > began + SHORT_S + 1, "its limit to pass")
        assert not (tmp_path / "went-on").exists()
        slot.give()
        assert (await handle.result()).succeeded
        assert (tmp_path / "went-on").exists()


@pytest.mark.nightly
async def test_time_limit_goes_on_once_the_run_has_its_slot_again(
    tmp_path: Path, kept: KeptHosts
) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        role = shop.role("waits", [*WAITS["until"], shell("sleep 600")])
        result = await shop.run(role, slot=Slot(), timeout_s=SHORT_S)
        assert result.ending is Ending.TIMED_OUT


async def test_run_that_is_cancelled_while_it_stands_leaves_no_process(
    tmp_path: Path, kept: KeptHosts
) -> None:
    slot = Slot(is_given=False)
    async with workshop(tmp_path, kept=kept) as shop:
        handle, _ = await shop.start(shop.role("waits", [*WAITS["until"], debug("x")]), slot=slot)
        await until(lambda: "want" in slot.said, "it to ask for a slot")
        handle.cancel("deleted")
        assert (await handle.result()).ending is Ending.CANCELLED
        slot.give()  # no run waits for it, which does no harm


@pytest.mark.nightly
async def test_timeout_of_a_task_does_not_count_the_time_in_line(
    tmp_path: Path, kept: KeptHosts
) -> None:
    slot = Slot(is_given=False)
    limited = {**task("pause", seconds=1), "timeout": 3}
    async with workshop(tmp_path, kept=kept) as shop:
        handle, _ = await shop.start(shop.role("waits", [limited, debug("x")]), slot=slot)
        await until(lambda: "want" in slot.said, "it to ask for a slot")
        asked = time.monotonic()
        await until(lambda: time.monotonic() > asked + 3, "the task's limit to pass")
        slot.give()
        assert (await handle.result()).succeeded


async def test_program_that_computes_after_its_wait_asks_for_a_slot_at_once(
    tmp_path: Path,
    kept: KeptHosts,
) -> None:
    slot = Slot()
    stop = tmp_path / "stop"
    program = f"sleep 1; while [ ! -e {stop} ]; do :; done"
    async with workshop(tmp_path, kept=kept) as shop:
        handle, _ = await shop.start(shop.role("waits", [shell(program), debug("x")]), slot=slot)
        await until(lambda: slot.said[:2] == ["leave", "want"], "it to ask for a slot")
        assert marked(str(stop))
        stop.touch()
        assert (await handle.result()).succeeded
        assert slot.said == ["leave", "want"], "it had its slot already"


async def test_program_that_waits_twice_leaves_its_slot_twice(
    tmp_path: Path, kept: KeptHosts
) -> None:
    slot = Slot()
    first, second = tmp_path / "first", tmp_path / "second"
    program = (
        f"sleep 1; while [ ! -e {first} ]; do :; done; while [ ! -e {second} ]; do sleep 1; done"
    )
    async with workshop(tmp_path, kept=kept) as shop:
        handle, _ = await shop.start(shop.role("waits", [shell(program), debug("x")]), slot=slot)
        await until(lambda: slot.said == ["leave", "want"], "it to ask for a slot")
        first.touch()
        await until(lambda: slot.said == ["leave", "want", "leave"], "it to leave it again")
        second.touch()
        assert (await handle.result()).succeeded
        assert slot.said == ["leave", "want", "leave", "want"]


@pytest.mark.parametrize("seconds", ["'x'", "-1"])
async def test_sleep_refuses_what_it_always_refused(
    tmp_path: Path, kept: KeptHosts, seconds: str
) -> None:
    module = f"import time\ntime.sleep({seconds})\n"
    async with workshop(tmp_path, kept=kept) as shop:
        role = shop.role("wrong", [{"name": "w", "odd": {}}], library__odd_py=_MODULE + module)
        result = await shop.run(role, slot=Slot())
        assert not result.succeeded


_MODULE = "from ansible.module_utils.basic import AnsibleModule\nAnsibleModule(argument_spec={})\n"
