"""Handlers in place of a role."""

from __future__ import annotations

import asyncio
from typing import Any

import kopf


@kopf.on.field("alones", field="spec.size")
async def resized(old: Any, new: Any, patch: kopf.Patch, **_: Any) -> None:
    """As plain kopf has it."""
    patch.status["resized"] = f"{old} to {new}"


@kopf.on.delete("alones")
async def farewell(spec: kopf.Spec, **_: Any) -> None:
    """Holds up the deletion once."""
    if spec.get("size", 0) < 0:
        raise kopf.PermanentError("it never had a size")


@kopf.daemon("alones")
async def endless(**_: Any) -> None:
    """Never looks whether it should end."""
    await asyncio.Event().wait()
