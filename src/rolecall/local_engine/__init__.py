"""Asks an engine of this machine, by its control socket.

Promise: starts fast, so nothing here is imported that speaks to a cluster. A socket without a listener
is not an error: the engine ended, and its artifacts still show its runs (see `history`).
"""

from rolecall.local_engine.control_socket import (
    CONTROL_SOCKET,
    ControlRefusedError,
    LocalEngine,
    engines_of,
)

__all__ = ["CONTROL_SOCKET", "ControlRefusedError", "LocalEngine", "engines_of"]
