"""The result of a run that could not be followed to its end, and was ended for that reason.

The outcome of such a run is unknown, and its key is retried; so it may not play on. The follower of a
run ends it on any exception at all, and returns this instead of raising.
"""

from __future__ import annotations

import logging

from rolecall.runner.contract import Ending, RunResult

_logger = logging.getLogger(__name__)


def result_of_given_up(run_id: str, error: BaseException, way: str) -> RunResult:
    """The result of a run that was ended because of this error."""
    reason = f"the run was ended, because its output could not be recorded: {_why(error)}"
    return RunResult(run_id, Ending.NO_RECAP, None, reason_text=reason, way=way)


def result_of_no_thread(run_id: str, error: BaseException) -> RunResult:
    """The result of a run for which there is no thread, so that nothing of it began."""
    reason = f"the run was not started, because the machine has no free thread: {error}"
    return RunResult(run_id, Ending.NOT_STARTED, None, reason_text=reason)


def result_of_no_plan(run_id: str, reason: str) -> RunResult:
    """The result of a play that should only plan, where it would have been a stock run."""
    text = f"a plan needs a warm run, and this one would be stock: {reason}"
    return RunResult(run_id, Ending.NOT_STARTED, None, reason_text=text)


def result_of_cancelled(run_id: str, reason: str | None) -> RunResult:
    """The result of a run that was cancelled before anything of it began."""
    return RunResult(run_id, Ending.CANCELLED, None, reason_text=reason or "")


def _why(error: BaseException) -> str:
    match error:
        case OSError():
            return error.strerror or str(error)
        case RecursionError():
            return "it is nested too deeply"
        case MemoryError():
            return "the operator had no memory left"
        case _:
            _logger.error(
                "internal error: a run could not be followed; please report this", exc_info=error
            )
            return f"internal error: {error!r}"
