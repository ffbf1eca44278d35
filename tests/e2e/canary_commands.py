"""Each command that reports runs, CRs or what is planned, in each of its forms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def all_that_report(artifacts: Path, namespace: str, planned: Sequence[Path]) -> list[list[str]]:
    """As words after `rolecall`; `planned`: files of CRs to plan for."""
    place = [f"--artifacts-dir={artifacts}"]
    of_cr = ["-n", namespace, *place]
    asked = [["status", *place], ["status", "-o", "json", *place], ["usage", *place]]
    for name in ("canary/succeeds", "canary/fails", "silentcanary/hangs", "secret/watched"):
        asked += [["status", name, *of_cr], ["runs", name, *of_cr], ["logs", name, *of_cr]]
        asked += [["runs", name, "-o", "json", *of_cr]]
        asked += [["runs", name, how, *of_cr] for how in ("--record", "--timeline")]
        asked += [["runs", name, "--html", "-", *of_cr]]
        asked += [["runs", name, "--record", "-o", "json", *of_cr]]
    for name in ("succeeds-of-texts", "succeeds-of-base64", "read"):
        asked += [["blame", "secret", name, *of_cr]]
    for file in planned:
        asked += [["plan", "--cr", str(file), "-o", how] for how in ("text", "json")]
    return asked
