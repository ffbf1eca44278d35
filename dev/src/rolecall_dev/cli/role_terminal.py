"""Where `rolecall run-role` speaks: plays on stdout, as they go, and what we have to say on stderr."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field

from rolecall.runner import RunEvent, RunResult
from rolecall_dev.cli.role_request import RoleRequest
from rolecall_dev.cli.role_speed import explain
from rolecall_dev.cli.role_words import summary


@dataclass(slots=True)
class Terminal:
    """Plays speak on stdout, we on stderr."""

    arguments: argparse.Namespace
    told: set[str] = field(default_factory=set)

    def event(self, event: RunEvent) -> None:
        if event.stdout:
            print(event.stdout, flush=True)

    def not_owned(self, why: str) -> None:
        if why not in self.told and not self.arguments.check:
            self.told.add(why)
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
