"""The control socket: what a running engine says of itself, and what it may be asked to do."""

from rolecall.extensions.console.control.server import served_control
from rolecall.extensions.console.control.state import CrNow, Snapshot, Wall, snapshot

__all__ = ["CrNow", "Snapshot", "Wall", "served_control", "snapshot"]
