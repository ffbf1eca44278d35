"""Run the tiers that matter on each Python with each ansible-core, and print a table.

    .venv/bin/python -m tools.test_matrix [--only 3.13/2.21] [--pythons "python3.12 ..."]
                                          [--tiers "unit demo"] [--ends]       (`make test-matrix`)

Which ansible-core is for which Python is in `lock/core/`. A Python that this machine does not have is a
line in the table, no failure; with REQUIRE_ALL=1, as in CI, two must be there, and nothing may be
skipped. `--ends`: the oldest of both and the newest of both, with a part of the tests, for CI.

Not here: all of `tests/apiserver` and most of `tests/e2e`. They ask what the engine does, which hardly
depends on Python and not at all on ansible-core; `make test` runs them on one pair.
"""

from __future__ import annotations

import argparse
import functools
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tools import environments, pythons, setup
from tools.environments import ROOT, NotMadeError, Pair

THIS_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
LOGS = ROOT / "build" / "matrix"
# A machine that does something else at the same time is no failure.
DEMO_S = 300
# Of a failed tier: its log may be out of reach, as in CI.
MOST_SHOWN = 8000
# pytest's last line, as in `1 failed, 450 passed, 2 skipped in 12.80s (0:00:12)`.
SUMMARY = re.compile(r"^(?:=+ )?((?:\d+ \w+(?:, )?)+) in [\d.]+s", re.MULTILINE)
VERDICT = re.compile(r"^demo: .*the slowest after (?P<slowest>[\d.]+) s; runs: (?P<ways>.*)$", re.M)


@dataclass(frozen=True, slots=True)
class Tier:
    """Tests by the arguments that pytest gets; `part` in CI, where each minute counts.

    `of_core`, where it is not all of the part: what another ansible-core may change. In CI that is
    enough for the Python that `make test` runs on.
    """

    name: str
    all: Sequence[str]
    part: Sequence[str]
    of_core: Sequence[str] = ()

    def wanted(self, pair: Pair, *, is_part: bool) -> Sequence[str]:
        if not is_part:
            return self.all
        is_of_core = self.of_core and pair.python == THIS_PYTHON
        return self.of_core if is_of_core else self.part


# Of fidelity, the groups in which a play does what plays do; the others are about odd surroundings.
USUAL = "test_fidelity and (variables or loops or errors or modules or handlers or plugins)"
STORY = ("tests/e2e/test_story.py",)
# What documents say is the same for any Python, and what slow tests search for nearly so. Two
# processes, as the other end has far less to do.
QUICK = ("-m", "not slow and not nightly")
CODE = ("tests/unit", "--ignore=tests/unit/house", "--numprocesses=2", *QUICK)
# Rooms that import Ansible, or read what it wrote.
OF_CORE = (
    *(
        f"tests/unit/{room}"
        for room in (
            *("checks", "collection", "extensions", "lifecycle", "logs", "reconcile"),
            *("record", "roles", "runner", "runner_warm"),
        )
    ),
    *QUICK,
)
TIERS = (
    Tier("unit", ("tests/unit",), CODE, OF_CORE),
    Tier(
        "play",
        ("tests/play",),
        ("tests/play", "-k", f"({USUAL}) or test_seams", "-m", "not nightly"),
    ),
    Tier("e2e", (*STORY, "tests/e2e/test_ending.py", "tests/e2e/test_listeners.py"), STORY),
)
DEMO = "demo"
TIER_NAMES = (*(tier.name for tier in TIERS), DEMO)


@dataclass
class Cell:
    """How one tier ended."""

    text: str
    passed: bool = True


@dataclass
class Row:
    """One line of the table."""

    pair: Pair
    cells: dict[str, Cell] = field(default_factory=dict)
    runs: str = ""
    slowest: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing failed in it."""
        return all(cell.passed for cell in self.cells.values())


def main(arguments: Sequence[str]) -> int:
    """Zero when nothing failed."""
    asked = parse(arguments)
    found = pythons.named_pythons(asked.pythons) if asked.pythons else pythons.find_pythons()
    pairs = chosen(all_pairs(found), asked.only, ends=asked.ends)
    # The two ends side by side, as tests keep one core busy; all pairs one by one, to compare seconds.
    run_one = functools.partial(run_pair, tiers=asked.tiers, is_part=asked.ends)
    with ThreadPoolExecutor(2 if asked.ends else 1) as workers:
        rows = list(workers.map(run_one, pairs))
    print(table(rows))
    is_short = os.environ.get("REQUIRE_ALL") and not asked.only and len(found) < 2
    if is_short:
        print(f"error: two Pythons are required, and this machine has {len(found)}")
    return int(bool(is_short) or not all(row.passed for row in rows))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Also of variables that are set and empty, as make hands them on."""
    parser = argparse.ArgumentParser(prog="make test-matrix", description=__doc__.split("\n")[0])
    parser.add_argument("--only", type=str.split, default=[], metavar="3.13/2.21")
    parser.add_argument("--pythons", type=str.split, default=[], metavar="PYTHON ...")
    parser.add_argument("--tiers", type=str.split, default=[], metavar="TIER ...")
    parser.add_argument("--ends", action="store_true")
    asked = parser.parse_args(arguments)
    asked.tiers = asked.tiers or list(TIER_NAMES)
    if unknown := set(asked.tiers) - set(TIER_NAMES):
        parser.error(f"tier `{unknown.pop()}` is not one of {', '.join(TIER_NAMES)}")
    return asked


def all_pairs(found: dict[str, str]) -> list[Pair]:
    """Each Python with each ansible-core that names it; oldest first."""
    return [
        Pair(python, core, found.get(python, ""))
        for python in pythons.MINORS
        for core, fitting in setup.known_cores()
        if python in fitting
    ]


def chosen(pairs: Sequence[Pair], only: Sequence[str], *, ends: bool) -> list[Pair]:
    """Those that were asked for."""
    if only:
        by_name = {pair.name: pair for pair in pairs}
        if unknown := [name for name in only if name not in by_name]:
            sys.exit(f"error: `{unknown[0]}` is not one of {', '.join(by_name)}")
        return [by_name[name] for name in only]
    if ends:
        there = [pair for pair in pairs if pair.executable]
        return list(dict.fromkeys([there[0], there[-1]])) if there else []
    return list(pairs)


def run_pair(pair: Pair, tiers: Iterable[str], *, is_part: bool) -> Row:
    """All tiers of a pair, also after one that failed."""
    row = Row(pair)
    if not pair.executable:
        row.cells = {"unit": Cell("not on this machine")}
        return row
    try:
        python = environments.make(pair)
    except NotMadeError as error:
        row.cells = {"unit": Cell(f"NO ENVIRONMENT: {error}", passed=False)}
        return row
    for tier in TIERS:
        if tier.name in tiers:
            row.cells[tier.name] = run_tests(pair, python, tier, is_part=is_part)
            report(pair, tier.name, row.cells[tier.name])
    if DEMO in tiers:
        run_demo(row, python)
        report(pair, DEMO, row.cells[DEMO])
    return row


def run_tests(pair: Pair, python: Path, tier: Tier, *, is_part: bool) -> Cell:
    """One tier, by pytest."""
    options = ("-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider")
    wanted = tier.wanted(pair, is_part=is_part)
    said, code, seconds, log = run(pair, tier.name, [str(python), *options, *wanted])
    summary = SUMMARY.findall(said)
    counts = summary[-1] if summary else "no summary"
    skipped = os.environ.get("REQUIRE_ALL") and "skipped" in counts
    if code or skipped or not summary:
        print(said[-MOST_SHOWN:], flush=True)
        return Cell(f"FAILED: {counts}, see {log}", passed=False)
    return Cell(f"{counts} in {seconds:.0f} s")


def run_demo(row: Row, python: Path) -> None:
    """The demo with its verdict: which way its runs went, and its slowest CR."""
    name = f"matrix-{row.pair.folder_name}"
    command = [str(python), "-m", "rolecall", "demo", "--once", "--name", name]
    said, code, seconds, log = run(row.pair, DEMO, [*command, "--timeout", str(DEMO_S)])
    verdict = VERDICT.search(said)
    if code or verdict is None:
        print(said[-MOST_SHOWN:], flush=True)
        row.cells[DEMO] = Cell(f"FAILED, see {log}", passed=False)
        return
    row.cells[DEMO] = Cell(f"ok in {seconds:.0f} s")
    row.runs, row.slowest = verdict["ways"], f"{verdict['slowest']} s"


def run(pair: Pair, name: str, command: Sequence[str]) -> tuple[str, int, float, Path]:
    """What it said, its exit code, its seconds, and its log."""
    log = LOGS / pair.folder_name / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with log.open("wb") as file:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environments.variables(Path(command[0])),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    seconds = time.monotonic() - began
    said = log.read_text(encoding="utf-8", errors="replace")
    return said, done.returncode, seconds, log.relative_to(ROOT)


def report(pair: Pair, name: str, cell: Cell) -> None:
    """As it goes: all of it takes long."""
    print(f"matrix: {pair.name:<10} {name:<6} {cell.text}", flush=True)


def table(rows: Sequence[Row]) -> str:
    """One line for each pair."""
    head = ("python", "core", *TIER_NAMES, "runs", "slowest CR")
    lines = [head]
    for row in rows:
        cells = (row.cells[name].text if name in row.cells else "" for name in TIER_NAMES)
        lines.append((row.pair.python, row.pair.core, *cells, row.runs, row.slowest))
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
