"""Choose the nightly tests for what changed, and run them; keep the map from rooms to tests.

    .venv/bin/python -m tools.affected                           what CI would run for HEAD
    .venv/bin/python -m tools.affected --touching src/rolecall/extensions/skip      for a commit of that
    .venv/bin/python -m tools.affected --run                     run it, as `.ci/run` does
    .venv/bin/python -m tools.affected --check | --write         hold tests/rooms.json to the code

The budget is 600 s of test time (`--budget`), by tests/seconds.json. The rest is for `make test-all`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence

from tools import ready
from tools.affected import commits
from tools.affected.choice import BUDGET_S, Choice, choose, nightly_seconds
from tools.affected.map import PATH, made_map
from tools.affected.tests import nightly_files
from tools.placement import ROOT, read_seconds

_NO_TESTS = 5  # pytest's exit code


def main(arguments: Sequence[str]) -> int:
    asked = parser().parse_args(arguments)
    if asked.write:
        PATH.write_text(made_map().text())
    if asked.write or asked.check:
        return _check()
    if asked.touching:
        paths = [path.rstrip("/") for path in asked.touching]
        paths = [f"{path}/" if (ROOT / path).is_dir() else path for path in paths]
        why = "these paths"
    else:
        since, why = commits.base()
        paths = commits.changed_paths(since)
        print(f"affected: {len(paths)} paths changed since {since[:12] or 'the beginning'}: {why}")
    choice = choose(paths, made_map(), read_seconds(), asked.budget)
    _report(choice)
    return _run(choice) if asked.run and choice.chosen else 0


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="tools.affected", description=__doc__.split("\n")[0])
    options.add_argument("--touching", nargs="+", metavar="PATH", help="instead of what changed")
    options.add_argument("--budget", type=float, default=BUDGET_S, metavar="SECONDS")
    options.add_argument("--run", action="store_true", help="run what was chosen")
    options.add_argument("--check", action="store_true", help="fail where the map is stale")
    options.add_argument("--write", action="store_true", help="write the map")
    return options


def _check() -> int:
    if PATH.exists() and PATH.read_text() == made_map().text():
        return 0
    print(
        "tests/rooms.json does not match the code\nhint: .venv/bin/python -m tools.affected --write"
    )
    return 1


def _report(choice: Choice) -> None:
    seconds = read_seconds()
    for title, files in (("runs", choice.chosen), ("left", choice.left)):
        for file, why in files.items():
            print(f"{title}  {nightly_seconds(file, seconds):6.1f} s  {file}  ({why})")
    print(
        f"affected: of {len(nightly_files())} files with nightly tests, {len(choice.chosen)} run"
        f" ({choice.seconds:.0f} s of {choice.budget_s:.0f} s) and {len(choice.left)} are left"
        " for `make test-all`, as are those that are not affected",
        flush=True,
    )


def _run(choice: Choice) -> int:
    """Without what this machine cannot run, which is named."""
    machine = ready.make_ready(choice.chosen)
    for line in machine.lines():
        print(f"affected: {line}", flush=True)
    files = [file for file in choice.chosen if not machine.excludes(file)]
    if not files:
        return 0
    command = [sys.executable, "-m", "pytest", "--numprocesses=2", "-m", "nightly", *files]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **machine.environment}, check=False)
    return 0 if done.returncode == _NO_TESTS else done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
