"""The log of the shared engine, as far as it is about the runs of one test."""

from __future__ import annotations

import re
import time

from tests.e2e.engine import EngineProcess
from tests.fixtures.eventually import eventually

_QUIET_S = 1.0


def causes(engine: EngineProcess, namespace: str) -> list[str]:
    """Of all runs so far."""
    return re.findall(rf'run started .*namespace={namespace} .*cause="?([^"\n]*)', engine.log)


def at_rest(engine: EngineProcess, namespace: str) -> int:
    """How many runs there were, once none was in flight and none began for a second."""
    seen, since = -1, time.monotonic()

    def look() -> bool:
        nonlocal seen, since
        log = engine.log
        begun = len(re.findall(rf"run started .*namespace={namespace} ", log))
        if begun != seen or begun != len(
            re.findall(rf"run (?:finished|failed) .*namespace={namespace} ", log)
        ):
            seen, since = begun, time.monotonic()
        return time.monotonic() - since > _QUIET_S

    eventually(look)
    return seen
