"""Whether runs are warm here, and why they are not where they could be."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from rolecall.runner import why_stock
from rolecall_dev.doctor.diagnosis import Diagnosis, done, to_do
from rolecall_dev.doctor.surroundings import Surroundings


async def look_at_way(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """Stock where somebody asked for it is fine; where nobody did, runs take seconds longer."""
    if surroundings.settings.runner.way == "stock":
        return [done("stock, as `--runner` says")]
    reason = await asyncio.to_thread(why_stock)
    if not reason:
        return [done("warm")]
    return [
        to_do(
            f"stock, because {reason}",
            "each run takes a second or two longer; `--runner stock` accepts that",
        )
    ]
