"""The control socket: what a running engine tells of itself, and what it may be asked to do."""

from rolecall.control.division import KeyDivision, KeyHolder, KeyHolders, SeenMember, SeenShards
from rolecall.control.last_runs import LastRuns
from rolecall.control.ports import EngineFacts, EnginePorts
from rolecall.control.server import served_control
from rolecall.control.state import Snapshot, Wall, snapshot

__all__ = [
    "EngineFacts",
    "EnginePorts",
    "KeyDivision",
    "KeyHolder",
    "KeyHolders",
    "LastRuns",
    "SeenMember",
    "SeenShards",
    "Snapshot",
    "Wall",
    "served_control",
    "snapshot",
]
