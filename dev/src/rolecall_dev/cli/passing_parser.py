"""A verb that hands its words to another program, but for options of its own that come first.

argparse's own way (`REMAINDER`) takes only what follows a word without a dash, so in
`kubectl -n prod get pods` it would stop at `-n`, which is not ours to judge.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence


class PassingParser(argparse.ArgumentParser):
    """Reads its own options as long as nothing else was typed; `passed_on` is the rest."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Split the words where the other program's begin."""
        words = list(args or ())
        at = self._end_of_own(words)
        found, _ = super().parse_known_args(words[:at], namespace)
        rest = words[at:]
        found.passed_on = rest[1:] if rest[:1] == ["--"] else rest
        return found, []

    def _end_of_own(self, words: Sequence[str]) -> int:
        at = 0
        while at < len(words):
            name, equals, _ = words[at].partition("=")
            action = self._option_string_actions.get(name)
            if action is None:
                break
            at += 1 if equals or action.nargs == 0 else 2
        return at
