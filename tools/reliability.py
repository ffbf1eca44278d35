"""Run the tests that docs/reliability.md names, and write into it what they said.

    python -m tools.reliability [--only WORD] [--write]      (`make reliability`)

Each row of a table of faults names a test. They are run, one pytest for each tier, and what came of
each is kept in bench/reliability.json: result, seconds, date, commit, machine and load, and the figures
that the fixture `figure` was given. The
column `last run` is written from that file and nothing else, which a test compares. `--only`: of rows
whose fault or test has the word; what is known of the others stays. `--write`: run nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.publish import commit_now  # noqa: E402

PAGE, RESULTS = ROOT / "docs" / "reliability.md", ROOT / "bench" / "reliability.json"
ROW = re.compile(
    r"^\| (?P<fault>[^|]+) \| (?P<promise>[^|]+) \| `(?P<file>tests/[^`:]+)::(?P<test>\w+)` \|"
    r"(?: (?P<last>[^|]*) \|)?$"
)
MARKS = "<!-- last run: begin -->", "<!-- last run: end -->"
NEVER = "not run yet"
_WORST_LAST = ("passed", "skipped", "FAILED")


@dataclass(frozen=True, slots=True)
class Row:
    """One promise, and its test."""

    fault: str
    promise: str
    node: str  # file::test

    @property
    def tier(self) -> str:
        """The folder below tests/."""
        return self.node.split("/")[1]


@dataclass(slots=True)
class Ran:
    """What came of a test, with all its parameters."""

    at: str
    result: str = "passed"
    seconds: float = 0.0
    figures: list[str] = field(default_factory=list)
    commit: str = ""
    machine: str = ""  # cores and versions
    load: str = (
        ""  # over one, five and fifteen minutes, when its tier was done; empty: not recorded
    )

    def __str__(self) -> str:
        figures = f": {', '.join(self.figures)}" if self.figures else ""
        load = f" (load {self.load})" if self.load else ""
        return f"{self.result} in {self.seconds:.1f} s on {self.at}{load}{figures}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, keep, write; 1 where a promise did not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="rows with this word")
    parser.add_argument("--write", action="store_true", help="write the page, and run nothing")
    options = parser.parse_args(arguments)
    rows = rows_of(PAGE.read_text())
    chosen = [row for row in rows if options.only in row.fault or options.only in row.node]
    fresh: dict[str, Ran] = {}
    if not options.write:
        for tier, some in groupby(chosen, key=lambda row: row.tier):
            fresh |= ran([row.node for row in some])
            keep(fresh)
            PAGE.write_text(written(PAGE.read_text()))
            print(f"{tier}: done", file=sys.stderr, flush=True)
    PAGE.write_text(written(PAGE.read_text()))
    missing = [row.node for row in chosen if row.node not in fresh] if not options.write else []
    bad = [f"{node}: {one}" for node, one in fresh.items() if one.result != "passed"]
    print(
        "\n".join([*bad, *(f"{node}: reported nothing" for node in missing)]) or "all as promised"
    )
    return int(bool(bad or missing))


def rows_of(text: str) -> list[Row]:
    """The promises of the page, by tier, so that each is one call of pytest."""
    found = (ROW.match(line) for line in text.splitlines())
    rows = [
        Row(one["fault"], one["promise"], f"{one['file']}::{one['test']}") for one in found if one
    ]
    return sorted(rows, key=lambda row: row.tier)


def ran(nodes: Sequence[str]) -> dict[str, Ran]:
    """Run tests; what each came to."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", *dict.fromkeys(nodes), "-q", "-n0"]
        subprocess.run(
            [*command, "-p", "no:cacheprovider", f"--junitxml={report}"], cwd=ROOT, check=False
        )
        return results_in(report.read_text()) if report.exists() else {}


def results_in(report: str) -> dict[str, Ran]:
    """What a JUnit report says, by test."""
    at, load = datetime.now(UTC).date().isoformat(), _load()
    commit, machine = commit_now(), _machine()
    found: dict[str, Ran] = {}
    for case in ElementTree.fromstring(report).iter("testcase"):  # noqa: S314 - our own
        file = case.get("classname", "").replace(".", "/") + ".py"
        one = found.setdefault(
            f"{file}::{case.get('name', '').partition('[')[0]}",
            Ran(at, commit=commit, machine=machine, load=load),
        )
        one.result = max(one.result, _result_of(case), key=_WORST_LAST.index)
        one.seconds = round(one.seconds + float(case.get("time", "0")), 1)
        one.figures += [each.get("value", "") for each in case.iter("property")]
    return found


def _result_of(case: ElementTree.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "FAILED"
    return "skipped" if case.find("skipped") is not None else "passed"


def keep(fresh: Mapping[str, Ran]) -> None:
    """Into the file of results, beside what is known of others."""
    known = kept() | dict(fresh)
    named = {row.node for row in rows_of(PAGE.read_text())}
    tests = {node: asdict(known[node]) for node in sorted(known) if node in named}
    RESULTS.write_text(json.dumps({"tests": tests}, indent=1) + "\n")


def kept() -> dict[str, Ran]:
    """What is known of each test."""
    if not RESULTS.exists():
        return {}
    return {node: Ran(**one) for node, one in json.loads(RESULTS.read_text())["tests"].items()}


def written(text: str) -> str:
    """The page with what is known in its last column, and a line about all of it."""
    known = kept()
    lines = "\n".join(_lines(text, known)) + "\n"
    begin, end = MARKS
    before, _, rest = lines.partition(begin)
    return f"{before}{begin}\n{_summary(text, known)}\n{end}{rest.partition(end)[2]}"


def _lines(text: str, known: Mapping[str, Ran]) -> Iterator[str]:
    for line in text.splitlines():
        if (row := ROW.match(line)) is None:
            yield line
            continue
        node = f"{row['file']}::{row['test']}"
        yield f"| {row['fault']} | {row['promise']} | `{node}` | {known.get(node, NEVER)} |"


def _summary(text: str, known: Mapping[str, Ran]) -> str:
    rows = rows_of(text)
    there = [known[row.node] for row in rows if row.node in known]
    if not there:
        return "Nothing was run yet."
    passed = sum(one.result == "passed" for one in there)
    days = sorted({one.at for one in there})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    machines = " or ".join(sorted({one.machine for one in there if one.machine}))
    unknown = sum(not one.load for one in there)
    words = [f"on {machines}"] if machines else []
    words += [f"load not recorded for {unknown}"] if unknown else []
    passed_of = f"{len(there)} of {len(rows)} tests, {passed} passed"
    return f"Run {when}: {'; '.join([passed_of, *words])}."


def _machine() -> str:
    core = version("ansible-core")
    return f"cores {os.cpu_count()}, Python {platform.python_version()}, ansible-core {core}"


def _load() -> str:
    return " ".join(f"{value:.1f}" for value in os.getloadavg())


if __name__ == "__main__":
    sys.exit(main())
