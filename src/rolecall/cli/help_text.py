"""How help texts are laid out: sentences are wrapped, examples stay as they were written."""

from __future__ import annotations

import argparse


class HelpText(argparse.HelpFormatter):
    """Wraps what is one paragraph."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return "".join(indent + line for line in text.splitlines(keepends=True))
        return super()._fill_text(text, width, indent)
