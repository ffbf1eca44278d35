"""Watches what plays read, so that a change of it brings the CR back: `watchReads`."""

from rolecall.extensions.reads.keys import WatchReads
from rolecall.extensions.reads.read_informers import ReadInformers
from rolecall.extensions.reads.read_objects import Change, ReadPorts

__all__ = ["Change", "ReadInformers", "ReadPorts", "WatchReads"]
