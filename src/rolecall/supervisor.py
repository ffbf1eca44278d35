"""Keeps the parts of the engine running: one that fails begins anew.

Promise: an unexpected exception ends neither the engine nor, in silence, the part that it
came from. It is logged with its traceback, once until it is another one or the part stood for a while;
it is counted; and after a pause, which grows up to a minute, the part begins from its beginning. What a
part raises to end the engine (`LeadershipLostError`) passes, and so does being cancelled from outside.

Rejected: letting a bug end the process, since Kubernetes will start it again. That ends every run in
flight for the sake of a stream that no run needs, and the cause is still there afterwards.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from rolecall.clock import Clock
from rolecall.errors import LeadershipLostError
from rolecall.log_fields import log_fields

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0

OnRestart = Callable[[str], None]

_logger = logging.getLogger(__name__)


class Supervisor:
    """Runs the long-lived parts of an engine."""

    def __init__(self, clock: Clock, on_restart: OnRestart = lambda _: None) -> None:
        self.clock = clock
        self._on_restart = on_restart

    async def keep(self, part: str, run: Callable[[], Awaitable[None]]) -> None:
        """Run a part until it returns, or we are cancelled; begin anew whenever it fails."""
        pause_s, last = FIRST_PAUSE_S, ""
        while True:
            began = self.clock.monotonic()
            try:
                return await run()
            except LeadershipLostError:
                raise
            except asyncio.CancelledError as cancelled:
                if _is_cancelled():
                    raise
                failure: BaseException = cancelled  # something inside was, without a request
            except Exception as caught:
                failure = caught
            if self.clock.monotonic() - began >= LONGEST_PAUSE_S:
                pause_s, last = FIRST_PAUSE_S, ""
            last = self._log(part, failure, pause_s, last)
            await self.clock.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    async def attempt(self, part: str, run: Callable[[], Awaitable[None]]) -> None:
        """Do something once that the engine can do without: what goes wrong is logged, and no more."""
        try:
            await run()
        except Exception as failure:
            _logger.exception(
                "internal error: given up", extra=log_fields(part=part, why=repr(failure))
            )

    def _log(self, part: str, failure: BaseException, pause_s: float, last: str) -> str:
        self._on_restart(part)
        why = repr(failure)
        fields = {"part": part, "why": why, "again_in_s": pause_s}
        if why == last:
            _logger.debug("a part of the operator failed again", extra=log_fields(**fields))
        else:
            _logger.error(
                "internal error: a part of the operator failed and is started again",
                extra=log_fields(**fields),
                exc_info=failure,
            )
        return why


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
