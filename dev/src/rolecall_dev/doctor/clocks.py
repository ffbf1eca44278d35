"""Whether our clock and the API server's agree: certificates, tokens and times in status hang on it."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall_dev.doctor.diagnosis import Diagnosis, done, not_looked, to_do
from rolecall_dev.doctor.surroundings import Surroundings

# The server names whole seconds, and the answer takes its time. What is off by more confuses people
# who compare times in status with those of the log; tokens allow a minute or so.
_ALLOWED_S = 5.0


async def look_at_clocks(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """By the `Date` of an answer."""
    skew = (await surroundings.needed_cluster()).skew
    if skew is None:
        return [not_looked("the API server does not tell its time")]
    seconds = skew.total_seconds()
    if abs(seconds) <= _ALLOWED_S:
        return [done("agrees with that of the API server")]
    direction = "ahead of" if seconds > 0 else "behind"
    return [
        to_do(
            f"this machine's clock is {abs(seconds):.0f} s {direction} that of the API server, so"
            " certificates and tokens may count as expired, or as not valid yet",
            "set the time of the one that is wrong, such as with `timedatectl set-ntp true`",
        )
    ]
