"""Asks an engine of this machine, by its control socket.

Promise: starts fast, so nothing here is imported that speaks to a cluster. A socket that nobody answers
is no error: the engine ended, and what its runs left still tells what they did (see `history`).
"""

from rolecall.local_engine.control_socket import (
    CONTROL_SOCKET,
    ControlRefusedError,
    LocalEngine,
    engines_of,
)

__all__ = ["CONTROL_SOCKET", "ControlRefusedError", "LocalEngine", "engines_of"]
