"""What a runner gets to know of a watch."""

from __future__ import annotations

from rolecall.runner.contract import PlayTerms
from rolecall.watches import Watch


def terms_of(watch: Watch, *, is_finalizer: bool = False) -> PlayTerms:
    """The terms of the watch's runs, or of its finalizer's."""
    finalizer = watch.finalizer if is_finalizer else None
    return PlayTerms(
        watch.gvk,
        finalizer.play if finalizer and finalizer.play else watch.play,
        main=watch.play,
        vars={**watch.vars, **(finalizer.vars if finalizer else {})},
        snake_case_parameters=watch.snake_case_parameters,
        trusts_cr_text=watch.mark_unsafe is False,
        way=watch.runner,
        notes_uses=watch.has_optional_runs,
    )
