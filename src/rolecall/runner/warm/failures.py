"""Why a configuration has no host, and when it is worth another try.

Some causes pass: no memory, a machine too busy to start anything in time. Others lie in files, such as
a name that this ansible-core does not have: the same files give the same answer, so only a change of
them is worth the second of CPU that another try costs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from rolecall.clock import Clock


@dataclass(slots=True)
class Failure:
    """One configuration without a host."""

    reason: str
    at_s: float
    is_lasting: bool = False
    stamp: str = ""  # of the installed files; where the cause lies in them
    mark: str = ""  # what a proof must be about to help


class Failures:
    """The last failure of each configuration, by its digest."""

    def __init__(self, clock: Clock, retry_s: float) -> None:
        self._clock = clock
        self._retry_s = retry_s
        self._known: dict[str, Failure] = {}

    def note(self, digest: str, failure: Failure) -> None:
        """It has no host; now, for this reason."""
        self._known[digest] = failure

    def reason_against(
        self, digest: str, stamp: Callable[[], str], trusted: Collection[str]
    ) -> Failure | None:
        """Why another try is not worth while; None: it is."""
        failure = self._known.get(digest)
        if failure is None:
            return None
        if failure.mark not in trusted:
            if self._clock.monotonic() - failure.at_s < self._retry_s:
                return failure
            if failure.is_lasting and stamp() == failure.stamp:
                failure.at_s = self._clock.monotonic()
                return failure
        del self._known[digest]
        return None
