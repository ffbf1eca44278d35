"""Tries as many cases as wanted, in processes: `make hostile CASES=1000000 SEED=7`.

    python -m tests.unit.hostile --cases 100000 --seed 7 [--only crs,bodies] [--processes 2]
    python -m tests.unit.hostile --replay crs 7/4711          one case, by its seed
    python -m tests.unit.hostile --replay FILE                one case, from the corpus

The cases are divided among the entry points by how many of each `make test` tries. What is found is
made smaller, and written to `build/hostile/`; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tests.unit.hostile.campaign import Tally, try_many, try_one
from tests.unit.hostile.corpus import read_case, write_case
from tests.unit.hostile.entries import ENTRY_POINTS
from tests.unit.hostile.entry_point import Finding, make_case

_FOUND = Path("build/hostile")
_PIECE = 500


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="hostile input, as much as wanted")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default=",".join(ENTRY_POINTS), help="entry points, by commas")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--replay", nargs="+", metavar="CASE", help="ENTRY SEED/NUMBER, or a file")
    return parser.parse_args()


def main() -> int:
    logging.disable(logging.CRITICAL)
    arguments = _arguments()
    if arguments.replay:
        return _replay(arguments.replay)
    chosen = [ENTRY_POINTS[name] for name in arguments.only.split(",")]
    shares = sum(entry.cases for entry in chosen)
    tallies = {entry.name: Tally(entry.name) for entry in chosen}
    print(f"seed {arguments.seed}", flush=True)
    began = time.monotonic()
    with ProcessPoolExecutor(arguments.processes) as pool:
        jobs = []
        for entry in chosen:
            count = max(1, arguments.cases * entry.cases // shares)
            for start in range(0, count, _PIECE):
                stop = min(count, start + _PIECE)
                jobs.append(pool.submit(_piece, entry.name, arguments.seed, start, stop))
        for job in as_completed(jobs):
            tally = job.result()
            before = set(tallies[tally.entry].findings)
            tallies[tally.entry].add(tally)
            for symptom in set(tally.findings) - before:
                _report(tally.findings[symptom])
    _print_table(tallies, time.monotonic() - began)
    return 1 if any(tally.findings for tally in tallies.values()) else 0


def _piece(name: str, seed: int, start: int, stop: int) -> Tally:
    logging.disable(logging.CRITICAL)
    return try_many(ENTRY_POINTS[name], seed, range(start, stop))


def _replay(what: list[str]) -> int:
    if len(what) == 1:
        name, case = read_case(Path(what[0]))
    else:
        name, place = what
        seed, _, number = place.partition("/")
        case = make_case(ENTRY_POINTS[name], int(seed), int(number))
    print(json.dumps(case, indent=1))
    finding = try_one(ENTRY_POINTS[name], case)
    print(finding.symptom if finding else "nothing broke")
    return 1 if finding else 0


def _report(finding: Finding) -> None:
    slug = re.sub(r"[^a-z0-9]+", "-", finding.symptom.lower())[:80].strip("-")
    path = _FOUND / finding.entry / f"{slug}.json"
    write_case(path, finding.case)
    print(f"FOUND {finding.entry}: {finding.symptom}")
    print(f"  replay: python -m tests.unit.hostile --replay {finding.entry} {finding.seed}")
    print(f"  made smaller: {path}", flush=True)


def _print_table(tallies: dict[str, Tally], seconds: float) -> None:
    for tally in tallies.values():
        rate = tally.tried / tally.cpu_s if tally.cpu_s else 0
        print(
            f"{tally.entry:<14} {tally.tried:>9,} cases {tally.accepted:>9,} accepted"
            f" {tally.cpu_s:>8.1f} CPU s {rate:>7.0f}/s {len(tally.findings):>3} found"
        )
    total = sum(tally.tried for tally in tallies.values())
    print(f"{total:,} cases in {seconds:.0f} s: {total / max(seconds, 0.001):.0f} cases/s")


if __name__ == "__main__":
    sys.exit(main())
