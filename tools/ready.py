"""Make this machine ready for tests that need more than Python, and name what it cannot run.

Debian packages are installed where root can; elsewhere such tests are left out with a reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tools import browser_ready, debian_packages, real_ready, shells_ready, strace_ready
from tools.affected.tests import helpers_of

_STRACE = "tests/fixtures/traced.py"
_SHELLS = "tests/unit/cli/test_completion.py"


@dataclass
class Machine:
    """Variables that tests look at, and what is left out, with the reason."""

    environment: dict[str, str] = field(default_factory=dict)
    lacks: dict[str, str] = field(default_factory=dict)  # folder or subject: reason

    def excludes(self, file: str) -> bool:
        """Whether nothing of this file can run."""
        return any(file.startswith(folder) for folder in self.lacks)

    def lines(self) -> list[str]:
        """One for each lack."""
        return [f"not run: {what}: {why}" for what, why in self.lacks.items()]


def make_ready(files: Iterable[str]) -> Machine:
    """For these test files; nothing is installed for others."""
    machine, files = Machine(), list(files)
    if any(file.startswith("tests/browser/") for file in files):
        if not browser_ready.browser():
            debian_packages.install(browser_ready.PACKAGES)
        if lack := browser_ready.what_is_missing():
            machine.lacks["tests/browser/"] = lack
            machine.environment["WITHOUT_BROWSER"] = "1"
    if any(file.startswith("tests/real/") for file in files):
        real_ready.install()
        if lack := real_ready.what_is_missing():
            machine.lacks["tests/real/"] = lack
        else:
            machine.environment["ROLECALL_REAL"] = "1"
    if any(_STRACE in helpers_of(file) for file in files) and (lack := strace_ready.lack()):
        machine.lacks["kills at system calls"] = lack
        machine.environment["WITHOUT_STRACE"] = "1"
    if _SHELLS in files:
        debian_packages.install(shells_ready.missing())
        if missing := " ".join(shells_ready.missing()):
            machine.lacks[f"completion in {missing}"] = f"`apt-get install {missing}`"
            machine.environment["WITHOUT_SHELLS"] = missing
    return machine
