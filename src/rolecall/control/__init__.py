"""The control socket: what a running engine tells of itself, and what it may be asked to do."""

from rolecall.control.last_runs import LastRuns
from rolecall.control.ports import EngineFacts, EnginePorts
from rolecall.control.server import served_control

__all__ = [
    "EngineFacts",
    "EnginePorts",
    "LastRuns",
    "served_control",
]
