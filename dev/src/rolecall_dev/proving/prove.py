"""Test an operator as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rolecall_dev.proving.report import Report
from rolecall_dev.staging import Stage


async def prove(
    project: Path,
    *,
    kinds: Sequence[str] = (),
    samples: Sequence[Path] = (),
    checks: Sequence[str] = (),
    budget_s: float | None = None,
    seed: int = 0,
    stage: Stage | None = None,
) -> Report:
    """Run the checks on the project's samples; with a stage, on its cluster, else on a new one."""
    raise NotImplementedError
