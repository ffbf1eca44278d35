"""Runs the looks side by side, each for at most some seconds, and none at the cost of another."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from rolecall.errors import RolecallError
from rolecall_dev.doctor.cluster import (
    look_at_clocks,
    look_at_cluster,
    look_at_kinds,
    look_at_lease,
    look_at_rights,
)
from rolecall_dev.doctor.machine import (
    look_at_artifacts,
    look_at_collections,
    look_at_ports,
    look_at_project,
    look_at_versions,
    look_at_way,
)
from rolecall_dev.doctor.surroundings import (
    Diagnosis,
    NotReachedError,
    Surroundings,
    not_looked,
    to_do,
)
from rolecall_dev.doctor.uninstall import look_at_finalizers, look_at_remains
from rolecall_dev.doctor.webhooks import look_at_webhooks

_LIMIT_S = 15.0


@dataclass(frozen=True, slots=True)
class Look:
    """One thing to look at."""

    name: str
    look: Callable[[Surroundings], Awaitable[Sequence[Diagnosis]]]


# In the order in which people read them: the cluster first, since all commands name it first.
LOOKS = (
    Look("cluster", look_at_cluster),
    Look("clock", look_at_clocks),
    Look("project", look_at_project),
    Look("versions", look_at_versions),
    Look("runs", look_at_way),
    Look("collections", look_at_collections),
    Look("ports", look_at_ports),
    Look("artifacts", look_at_artifacts),
    Look("kinds", look_at_kinds),
    Look("rights", look_at_rights),
    Look("webhooks", look_at_webhooks),
    Look("leader", look_at_lease),
)

# Before the operator goes, and after it.
UNINSTALL_LOOKS = (
    Look("cluster", look_at_cluster),
    Look("project", look_at_project),
    Look("finalizers", look_at_finalizers),
    Look("remains", look_at_remains),
)


async def examine(
    surroundings: Surroundings,
    looks: Sequence[Look] = LOOKS,
    *,
    limit_s: float = _LIMIT_S,
    on_bug: Callable[[str], None] = print,
) -> AsyncIterator[tuple[str, Sequence[Diagnosis]]]:
    """What each look saw, in their order; `on_bug` gets the traceback of a bug of ours."""
    running = [asyncio.create_task(_seen(look, surroundings, limit_s, on_bug)) for look in looks]
    try:
        for look, task in zip(looks, running, strict=True):
            yield look.name, await task
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await surroundings.close()


async def _seen(
    look: Look, surroundings: Surroundings, limit_s: float, on_bug: Callable[[str], None]
) -> Sequence[Diagnosis]:
    try:
        async with asyncio.timeout(limit_s):
            return await look.look(surroundings)
    except TimeoutError:
        return [to_do(f"was not seen within {limit_s:g} s", "try again; the cluster may be busy")]
    except NotReachedError as error:
        return [not_looked(error.message)]
    except RolecallError as error:
        return [to_do(error.message, error.hint)]
    except OSError as error:  # of the machine, or of a connection that broke off
        return [to_do(f"could not be seen: {error}")]
    except Exception as error:  # a bug: the other looks are worth as much as ever
        on_bug(traceback.format_exc())
        return [to_do(f"internal error: {error!r}", "please report it with the lines above")]
