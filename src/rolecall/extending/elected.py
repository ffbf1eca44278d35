"""Which election an engine has: one that an extension offers, a leader, or none."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Sequence

from rolecall.election import Election, LeaseElection
from rolecall.errors import InputError
from rolecall.extending.extension import ElectionView, Extension
from rolecall.metrics import MASTER_STATUS


def election_of(engine: ElectionView, extensions: Sequence[type[Extension]]) -> Election:
    """Raises `InputError`."""
    found = {each.name: each.elect(engine) for each in extensions}
    offered = {name: election for name, election in found.items() if election is not None}
    if len(offered) > 1:
        names = " and ".join(f"`{name}`" for name in offered)
        raise InputError(f"the extensions {names} both decide which replica works")
    for election in offered.values():
        return election
    settings = engine.settings.election
    if not settings.is_on:
        return Election()

    def show(leads: bool) -> None:
        engine.metrics.of(MASTER_STATUS, name=settings.id).set(leads)

    return LeaseElection(
        engine.client,
        settings,
        identity=f"{socket.gethostname()}_{uuid.uuid4()}",
        clock=engine.clock,
        on_change=show,
    )
