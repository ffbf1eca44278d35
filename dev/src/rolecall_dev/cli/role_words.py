"""What `rolecall run-role` says of a run and of all of them: a line for people, one fact each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rolecall.runner import RunResult, TaskFailure
from rolecall_dev.cli.role_request import RoleRequest


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
