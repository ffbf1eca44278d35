"""Keeps the garbage collector from looking at what the first lists bring: then, and ever after.

Ten thousand CRs are some hundred thousand objects that stay. A full collection looks at each of them,
and holds the event loop for a tenth of a second; it comes again whenever a quarter was added.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

from rolecall.clock import Clock

_LOOK_S = 0.5
_SETTLED_S = 10.0  # until each CR that came was seen to, and what was needed for that is gone
_LONGEST_S = 60.0  # without a collection


async def freeze_first_lists(clock: Clock, is_listed: Callable[[], bool]) -> None:
    """Collect nothing until all is listed, and never what there is by then; until cancelled."""
    # `rolecall run` froze what it imported; any other process has more to do than this engine.
    if gc.isenabled() and gc.get_freeze_count():
        gc.disable()
        try:
            waited_s = 0.0
            while not is_listed() and waited_s < _LONGEST_S - _SETTLED_S:
                await clock.sleep(_LOOK_S)
                waited_s += _LOOK_S
            await clock.sleep(_SETTLED_S)
            gc.freeze()
        finally:
            gc.enable()
    await asyncio.Event().wait()  # a part that ends ends the engine
