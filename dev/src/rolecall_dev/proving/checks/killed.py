"""Killed: after each write of the first run, the run or the whole operator ends without a word.

All writes are tried at once: one CR for each, held where its write was done and not answered yet, and
then one kill for all. So a kill that needs a new engine costs one start, however many writes there are.
A finding is tried again with its write alone.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

from rolecall_dev.proving.bench import Bench
from rolecall_dev.proving.model import (
    Case,
    CaseProblem,
    OperatorCheck,
    Subject,
    around,
    shown_differences,
)
from rolecall_dev.proving.tested_cr import TestedCr

_NAME = "killed"
_HELD_WITHIN_S = 45.0
_MOST_AT_ONCE = 16
_WHAT = {"run": "run", "engine": "operator"}


def _cases(subject: Subject) -> list[Case]:
    writes = list(range(1, len(subject.undisturbed.effects) + 1))
    at_once = _MOST_AT_ONCE if subject.undisturbed.is_confined else 1
    batches = [writes[start : start + at_once] for start in range(0, len(writes), at_once)]
    return [
        _case(subject, what, batch, worth)
        for batch in batches
        for what, worth in (("run", 5.0), ("engine", 3.5))
    ]


def _case(subject: Subject, what: str, writes: list[int], worth: float = 1.0) -> Case:
    some = (
        f"write {writes[0]}" if len(writes) == 1 else f"each of writes {writes[0]} to {writes[-1]}"
    )
    return Case(
        check=_NAME,
        subject=str(subject.sample),
        reported=f"{_WHAT[what]} killed after {some}",
        params={"what": what, "after": writes},
        worth=worth,
        is_alone=True,
    )


async def _run(bench: Bench, subject: Subject, case: Case) -> list[CaseProblem]:
    what, writes = case.params["what"], case.params["after"]
    is_single = len(writes) == 1
    async with AsyncExitStack() as stack:
        several = [
            await stack.enter_async_context(
                bench.alone(subject) if is_single else bench.tested(subject)
            )
            for _ in writes
        ]
        for tested, write in zip(several, writes, strict=True):
            tested.traffic.hold(write)
            await tested.create()
        held = [
            each for each in zip(several, writes, strict=True) if each[0] in await _held(several)
        ]
        await _kill(bench, what)
        for tested in several:
            tested.traffic.release()
        if what == "engine":
            await bench.engine.start()
        found = await asyncio.gather(
            *(_judged(subject, what, tested, write) for tested, write in held)
        )
        if len(held) < len(several):
            bench.reported.note(
                f"{case.name}: {len(several) - len(held)} writes did not come again"
            )
        return [problem for problem in found if problem is not None]


async def _held(several: list[TestedCr]) -> list[TestedCr]:
    """Those that came to their write in time."""
    waiting = {asyncio.create_task(each.traffic.is_held.wait()): each for each in several}
    done, late = await asyncio.wait(waiting, timeout=_HELD_WITHIN_S)
    for task in late:
        task.cancel()
    return [waiting[task] for task in done]


async def _kill(bench: Bench, what: str) -> None:
    if what == "engine":
        await bench.engine.kill()
    else:
        await asyncio.to_thread(bench.engine.kill_runs)


async def _judged(subject: Subject, what: str, tested: TestedCr, write: int) -> CaseProblem | None:
    number = len(tested.traffic.requests)
    settled = await tested.settle(subject.undisturbed.expected)
    if settled.is_as_expected:
        return None
    single = _case(subject, what, [write])
    last = tested.traffic.effects[write - 1] if len(tested.traffic.effects) >= write else None
    differs = shown_differences(settled.differences) or "it never settles"
    return CaseProblem(
        reported=f"{single.reported} leaves something else behind than an undisturbed run",
        expected="the same end state as that of an undisturbed run",
        found=differs,
        remedy="Decide by what is in the cluster and not by a mark that was set before the work;"
        " set marks last.",
        requests=around(tested.traffic.requests, last.number if last else number),
        place=subject.undisturbed.place_of(last),
        case=replace(single),
        alike=differs,
        differences=tuple(map(str, settled.differences)),
    )


KILLED = OperatorCheck(_NAME, "run and operator are killed after each write", _cases, _run)
