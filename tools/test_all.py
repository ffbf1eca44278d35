"""Run everything, or one shard of it, and say at the end what was not run and why.

    .venv/bin/python -m tools.test_all [--shard 2/4] [--room proxy]       (`make test-all SHARD=2/4`)

All tests of all tiers with what `make test` leaves out, stock runs made again, each Python with each
ansible-core, and mutants of one room: another one each day, unless it is given. Shards consist of
files, dealt out by tests/seconds.json so that they take equally long; together they are everything, and
no file is in two of them. They may run on several machines, or one after the other.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from tools import ready
from tools.mutants.__main__ import ROOMS
from tools.placement import ROOT, Seconds, read_seconds, scopes, shards, test_files

BUILD = ROOT / "build" / "test-all"
MATRIX, MUTANTS = "matrix", "mutants"
# Beside test files; the seconds are of two cores.
PARTS = {MATRIX: 2400.0, MUTANTS: 400.0}
_MUTANTS_SAMPLE = "200"
_SHARD = re.compile(r"([0-9]{1,3})/([0-9]{1,3})")
_NO_TESTS = 5  # pytest's exit code


@dataclass
class Part:
    """How one of the programs ended."""

    name: str
    code: int
    seconds: float

    def line(self) -> str:
        """For the table."""
        verdict = "ok" if self.code == 0 else f"FAILED ({self.code})"
        return f"{self.name:<24} {self.seconds:7.0f} s   {verdict}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make test-all", description=__doc__.split("\n")[0])
    parser.add_argument("--shard", default="", metavar="2/4")
    parser.add_argument("--workers", default="2")
    parser.add_argument("--room", default="", metavar="ROOM", help="whose mutants")
    asked = parser.parse_args(arguments)
    try:
        number, count = parse_shard(asked.shard or "1/1")
        room = asked.room or room_of_day(datetime.now(UTC).date())
        if room not in ROOMS:
            raise ValueError(f"MUTANTS must be one of {', '.join(ROOMS)}, not `{room}`")
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    work = work_of(number, count)
    files = [name for name in work if name not in PARTS]
    machine = ready.make_ready(files)
    report = BUILD / f"shard-{number}-of-{count}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    parts = list(run(files, machine, asked.workers, report))
    if MATRIX in work:
        parts.append(_run_part("matrix", "tools.test_matrix"))
    if MUTANTS in work:
        words = (room, "--sample", _MUTANTS_SAMPLE, "--seed", str(datetime.now(UTC).toordinal()))
        parts.append(_run_part(f"mutants of {room}", "tools.mutants", *words))
    print("\n".join(table(parts, not_run(machine, report, work))), flush=True)
    return int(any(part.code for part in parts))


def parse_shard(text: str) -> tuple[int, int]:
    """The number of a shard, and how many there are."""
    found = _SHARD.fullmatch(text)
    if found and 1 <= int(found[1]) <= int(found[2]):
        return int(found[1]), int(found[2])
    raise ValueError(f"SHARD must be a number and a count such as 2/4, not `{text}`")


def room_of_day(day: date) -> str:
    """Each day another room."""
    return ROOMS[day.toordinal() % len(ROOMS)]


def work_of(number: int, count: int, seconds: Mapping[str, Seconds] | None = None) -> list[str]:
    """Test files and other parts of one shard."""
    known = read_seconds() if seconds is None else seconds
    together = scopes(test_files())
    weights = {
        scope: sum(known.get(file, Seconds()).all for file in files)
        for scope, files in together.items()
    }
    dealt = shards({**weights, **PARTS}, count)[number - 1]
    return sorted(file for scope in dealt for file in together.get(scope, [scope]))


def run(files: Iterable[str], machine: ready.Machine, workers: str, report: Path) -> Iterable[Part]:
    """The tests of this shard that the machine can run."""
    wanted = [file for file in files if not machine.excludes(file)]
    if wanted:
        options = [f"--numprocesses={workers}", f"--junitxml={report}"]
        made = {"SEEDED": "1", "STOCK": "1"}
        part = _run_part("tests", "pytest", *options, *wanted, **made, **machine.environment)
        if part.code == _NO_TESTS:
            part.code = 0
        yield part


def _run_part(name: str, module: str, *words: str, **environment: str) -> Part:
    began = time.monotonic()
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False)
    return Part(name, done.returncode, time.monotonic() - began)


def not_run(machine: ready.Machine, report: Path, work: Iterable[str]) -> dict[str, str]:
    """What was left out, with the reason."""
    left = dict(machine.lacks)
    others = len(set(test_files()) | set(PARTS)) - len(set(work))
    if others:
        left[f"{others} files and parts"] = "they are in other shards"
    for reason, count in skipped(report).items():
        left[f"{count} tests, reason {len(left) + 1}"] = reason
    return left


def skipped(report: Path) -> Counter[str]:
    """Reasons of skips, with how many tests each took."""
    if not report.exists():
        return Counter()
    found = ET.parse(report).iterfind(".//testcase/skipped")  # noqa: S314 - pytest just wrote it
    return Counter((each.get("message") or "no reason").splitlines()[0] for each in found)


def table(parts: Iterable[Part], left: Mapping[str, str]) -> list[str]:
    """What ran, and what did not."""
    lines = ["", *(part.line() for part in parts)]
    width = max(map(len, left), default=0)
    lines += [f"not run: {what:<{width}}  {why}" for what, why in left.items()]
    return lines if left else [*lines, "not run: nothing was left out"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
