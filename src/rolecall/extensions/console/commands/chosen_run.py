"""The run that a person means by its id, or by the first characters of it."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.cli.kind_words import CrWord
from rolecall.errors import InputError
from rolecall.history import KeptRun, with_id


def run_called(runs: Sequence[KeptRun], run_id: str, word: CrWord) -> KeptRun:
    """Raises `InputError` where none or several begin so."""
    found = with_id(runs, run_id)
    if len(found) > 1:
        named = ", ".join(f"`{each.run}`" for each in found[:5])
        raise InputError(f"several runs of `{word}` begin with `{run_id}`: {named}")
    if not found:
        hint = f"`rolecall runs {word}` lists those that are kept"
        raise InputError(f"no run `{run_id}` of `{word}` is kept", hint=hint)
    return found[0]
