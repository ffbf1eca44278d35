"""Which ansible-cores that were not reviewed may be run warm all the same."""

from __future__ import annotations

from rolecall.runner.inputs import PreparedRun
from rolecall.runner.warm.link import HostLink


class Trust:
    """Says which unknown ansible-cores may run warm: the given marks; `Prover` also proves.

    Runs' threads call it, so nothing here may block.
    """

    def __init__(self, marks: frozenset[str] = frozenset()) -> None:
        self._marks = marks

    @property
    def marks(self) -> frozenset[str]:
        """What was proven, by the marks of hosts that met it."""
        return self._marks

    def serves(self, host: HostLink) -> None:
        """This host serves."""

    def meet(self, host: HostLink, _prepared: PreparedRun) -> str:
        """This host cannot serve, for a cause that stays; returns the mark of what it met, if any."""
        return host.unknown.mark if host.unknown else ""

    def reason(self, _mark: str) -> str:
        """Why runs go the stock way while this mark is not trusted; empty: nothing to add."""
        return ""
