"""What `rolecall run-role` says: plays on stdout, as they go, and what we have to say on stderr."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rolecall.runner import RunEvent, RunRequest, RunResult, TaskFailure
from rolecall.watches import Watch


# A run that the user requested with `rolecall run-role`.
@dataclass(frozen=True, slots=True)
class RoleRequest(RunRequest):
    """A run, and the watch that its access to the cluster and its variables follow."""

    watch: Watch = field(kw_only=True)


# What `rolecall run-role` says of a run and of all of them: a line for people, one fact each.
def subject(request: RoleRequest) -> str:
    """The CR, as people call it."""
    metadata = request.cr["metadata"]
    name = "/".join(text for text in (metadata.get("namespace"), metadata["name"]) if text)
    return f"{request.terms.gvk.kind} {name}"


def summary(
    request: RoleRequest, result: RunResult, *, is_check: bool, kept: Path | None
) -> list[str]:
    """How one run ended, and why; `kept` is where its files stay, if they do."""
    verdict = "succeeded" if result.succeeded else "failed"
    counts = ""
    if result.recap is not None:
        recap = result.recap
        counts = f" (ok={recap.ok} changed={recap.changed} skipped={recap.skipped})"
    lines = [f"{subject(request)}: {verdict} in {result.seconds:.1f} s{counts}"]
    lines += [f"  {_failure(failure)}" for failure in result.failures]
    if result.reason_text:
        lines.append(f"  {result.reason_text}")
    would = "would have changed" if is_check else "changed"
    lines += [f"  {would}: {task}" for task in result.changed_tasks]
    if result.requeue_after_s is not None:
        lines.append(f"  the role asked for the next run after {result.requeue_after_s:g} s")
    if kept is not None and result.artifacts is not None:
        lines.append(f"  files: {result.artifacts}")
    return lines


def tally(turns: int, runs: int, changed: int) -> str:
    """What it took until nothing was left to do; molecule's idempotence reads the last number."""
    counted = f"{turns} turn{'s' * (turns > 1)} and {runs} run{'s' * (runs > 1)}"
    return f"nothing is left to do after {counted}; runs with a change: {changed}"


def left_over(unsettled: Sequence[RoleRequest], within_s: float) -> str:
    """Who was not done in time."""
    return f"not done within {within_s:g} s: {', '.join(map(subject, unsettled))}"


def _failure(failure: TaskFailure) -> str:
    task = f"task `{failure.task}` failed: " if failure.task else ""
    detail = f" ({failure.detail})" if failure.detail else ""
    place = f" at {failure.place}" if failure.place else ""
    return f"{task}{failure.message}{detail}{place}"


# `--explain-speed`: each task of a run with its time, the way it was run, and why not a faster.

# From fast to slow, each with what it costs and what to do about it.
_WAYS = {
    "inline": "in the run's own process",
    "in-process": "the module too, in the run's own process",
    "forked": "the module in one fork of the run; a module of kubernetes.core would need none",
    "stock": "as ansible-core does it: new processes for each task; the reason says why",
}


def explain(result: RunResult) -> str:
    """The table, or the reason why there is none."""
    file = result.artifacts / "speed.json" if result.artifacts else None
    if result.way != "warm" or file is None or not file.is_file():
        return "the whole run was a stock one, so every task started new processes"
    return _table(file)


def _table(file: Path) -> str:
    speed = json.loads(file.read_text(encoding="utf-8"))
    table = Table(title=f"{speed['seconds']:.3f} s in all", title_justify="left")
    for column in ("ms", "way", "task", "place", "why this way"):
        table.add_column(column, justify="right" if column == "ms" else "left")
    for task in speed["tasks"]:
        place = task["place"].rsplit("/roles/", 1)[-1]
        milliseconds = f"{task['seconds'] * 1000:.1f}"
        table.add_row(milliseconds, task["way"], task["task"], place, task["reason"])
    used = {task["way"] for task in speed["tasks"]}
    legend = [f"{way}: {meaning}" for way, meaning in _WAYS.items() if way in used]
    console = Console(width=150, color_system=None)
    with console.capture() as capture:
        console.print(table)
        console.print("\n".join(legend))
    return capture.get().rstrip()


# Where `rolecall run-role` speaks: plays on stdout, as they go, and what we have to say on stderr.
@dataclass(slots=True)
class Terminal:
    """Plays speak on stdout, we on stderr."""

    arguments: argparse.Namespace
    reported: set[str] = field(default_factory=set)

    def event(self, event: RunEvent) -> None:
        if event.stdout:
            print(event.stdout, flush=True)

    def not_owned(self, why: str) -> None:
        if why not in self.reported and not self.arguments.check:
            self.reported.add(why)
            self.say(f"note: nothing will own what this run makes (no owner reference): {why}")

    def unowned(self, message: str) -> None:
        self.say(f"note: {message}")

    def ended(self, request: RoleRequest, result: RunResult) -> None:
        kept = self.arguments.artifacts_dir
        for line in summary(request, result, is_check=self.arguments.check, kept=kept):
            self.say(line)
        if self.arguments.explain_speed:
            print(explain(result))

    def say(self, line: str) -> None:
        say(line)


def say(line: str) -> None:
    """Our own words."""
    print(line, file=sys.stderr, flush=True)
