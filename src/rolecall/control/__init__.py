"""The control socket: what a running engine tells of itself, and what it may be asked to do."""

from rolecall.control.client import ControlError, ask, connect, sockets_of, states
from rolecall.control.last_runs import LastRuns
from rolecall.control.ports import EngineFacts, EnginePorts
from rolecall.control.server import served_control

__all__ = [
    "ControlError",
    "EngineFacts",
    "EnginePorts",
    "LastRuns",
    "ask",
    "connect",
    "served_control",
    "sockets_of",
    "states",
]
