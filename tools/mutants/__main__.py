"""Change one thing of a room at a time, and see whether a test of it fails.

    .venv/bin/python -m tools.mutants status [--sample 200] [--seed 7]          (`make mutants`)

A mutant that all tests pass is a missing test, dead code, or a change that changes nothing. The last
are listed in `equivalent.yaml`, each with its argument, and are not counted; they are run all the same,
and one that a test kills is an error. Fails where less than 85 of 100 die.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tools.mutants.argued import arguments, gone
from tools.mutants.places import Mutant, Name, mutants_of
from tools.mutants.run import BY_HANGING, MutantsError, Verdict, verdicts

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "src" / "rolecall"
ROOMS = ("reconcile", "workqueue", "status", "election", "proxy")
LEAST_PERCENT = 85


def main(arguments_: Sequence[str]) -> int:
    asked = parser().parse_args(arguments_)
    room = ENGINE / asked.room
    every = [mutant for path in sorted(room.glob("*.py")) for mutant in mutants_of(path, room)]
    argued = arguments()
    for name in gone(argued, f"{room.name}/", {mutant.name for mutant in every}):
        print(f"error: equivalent.yaml argues about what is not there any more: {as_diff(name)}")
        return 1
    chosen = sample(every, asked.sample, asked.seed)
    tests = [str(ROOT / "tests" / "unit" / room.name)]
    print(f"{room.name}: {len(chosen)} of {len(every)} mutants, seed {asked.seed}", flush=True)
    began = time.monotonic()
    try:
        found = verdicts(chosen, tests, ROOT, asked.at_once)
    except MutantsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{time.monotonic() - began:.0f} s")
    return report(found, argued)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="tools.mutants", description=__doc__)
    options.add_argument("room", choices=ROOMS)
    options.add_argument("--sample", type=int, help="so many of the mutants; else all")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--at-once", type=int, default=3)
    return options


def sample(every: Sequence[Mutant], size: int | None, seed: int) -> list[Mutant]:
    """So many, spread over the room by chance, in the order of the text."""
    if size is None or size >= len(every):
        return list(every)
    dice = random.Random(seed)  # noqa: S311 - no secret
    return [every[number] for number in sorted(dice.sample(range(len(every)), size))]


def report(found: Sequence[Verdict], argued: dict[Name, str]) -> int:
    """Print what lives, and the figure."""
    wrong = [each for each in found if each.mutant.name in argued and each.killed_by]
    counted = [each for each in found if each.mutant.name not in argued]
    alive = [each for each in counted if each.killed_by is None]
    for each in alive:
        print(f"\n{shown(each)}")
    for each in wrong:
        print(f"\nerror: argued to be equivalent, but killed by {each.killed_by}:\n{shown(each)}")
    killed = len(counted) - len(alive)
    percent = 100.0 * killed / len(counted) if counted else 0.0
    equivalent = len(found) - len(counted)
    hung = sum(each.killed_by == BY_HANGING for each in counted)
    print(
        f"\n{killed} of {len(counted)} killed ({percent:.1f} %; {hung} by a time limit), "
        f"{equivalent} equivalent and not counted, {len(alive)} live"
    )
    if percent < LEAST_PERCENT:
        print(f"error: fewer than {LEAST_PERCENT} % die: write tests, or argue in equivalent.yaml")
    return int(percent < LEAST_PERCENT or bool(wrong))


def shown(verdict: Verdict) -> str:
    mutant = verdict.mutant
    tests = f"{verdict.tests} tests ran it" if verdict.tests else "no test runs it"
    place = f"{mutant.path.relative_to(ROOT)}:{mutant.first_line}"
    return f"{place} {mutant.name.where.partition('::')[2]} ({tests})\n{as_diff(mutant.name)}"


def as_diff(name: Name) -> str:
    number = f"  (number {name.number} of these)" if name.number > 1 else ""
    return f"  - {name.before}{number}\n  + {name.after}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
