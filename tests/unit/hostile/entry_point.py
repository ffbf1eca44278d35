"""What an entry point is, and how one case of it is tried: within CPU seconds, and with a verdict."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from tests.unit.hostile.dice import Dice

# What reads megabytes takes a tenth of it; a loop without end takes all.
CPU_LIMIT_S = 3.0

# True: accepted; False: refused in one of the allowed ways. Anything raised is a finding.
Check = Callable[[Any], bool]


class BrokenPromiseError(AssertionError):
    """An oracle's word: the case was taken, and what came of it is wrong."""


class HungError(BaseException):
    """A case took too many CPU seconds. Not an `Exception`, so that no code on the way catches it."""


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """One way in."""

    name: str
    make: Callable[[Dice], Any]
    open: Callable[[Path], AbstractContextManager[Check]]  # with a folder for its files
    cases: int  # of `make test`


@dataclass(frozen=True, slots=True)
class Finding:
    """A case that broke something."""

    entry: str
    case: Any
    symptom: str  # one line; the same for the same fault, as far as that can be said
    seed: str = ""


def make_case(entry: EntryPoint, seed: int, number: int) -> Any:
    """The case of this number: the same on each machine, whichever cases came before."""
    return entry.make(Dice(random.Random(f"{entry.name}/{seed}/{number}")))


def try_case(entry: EntryPoint, check: Check, case: Any) -> tuple[bool, Finding | None]:
    """Whether it was accepted, and what it broke."""
    try:
        with _limited():
            return check(case), None
    except (Exception, HungError) as error:
        return False, Finding(entry.name, case, _symptom(error))


def _symptom(error: BaseException) -> str:
    lines = str(error).splitlines()
    text = f"{type(error).__name__}: {lines[0][:160] if lines else ''}"
    where = error.__traceback__
    ours = ""
    while where is not None:
        file = where.tb_frame.f_code.co_filename
        if "/src/rolecall/" in file:
            ours = f" in {file.rpartition('/src/rolecall/')[2]}"
        where = where.tb_next
    return text + ours


@contextmanager
def _limited() -> Iterator[None]:
    """Interrupt what computes without end; waiting costs no CPU, and has limits of its own."""

    def hang(_signal: int, _frame: FrameType | None) -> None:
        raise HungError(f"more than {CPU_LIMIT_S} CPU seconds")

    before = signal.signal(signal.SIGVTALRM, hang)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def must(is_so: object, promise: str) -> None:
    """Say a promise that has to hold."""
    if not is_so:
        raise BrokenPromiseError(promise)
