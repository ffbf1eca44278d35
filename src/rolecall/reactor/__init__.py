"""Turns what happens in the cluster into keys in the queue; posts Events."""

from rolecall.reactor.dependent_informers import DependentInformers
from rolecall.reactor.event_recorder import ApiEventRecorder
from rolecall.reactor.known_crs import SyncState
from rolecall.reactor.ports import CrMetrics, Sink
from rolecall.reactor.reactor import Reactor
from rolecall.reactor.read_informers import ReadInformers
from rolecall.reactor.read_objects import Change, ReadPorts

__all__ = [
    "ApiEventRecorder",
    "Change",
    "CrMetrics",
    "DependentInformers",
    "Reactor",
    "ReadInformers",
    "ReadPorts",
    "Sink",
    "SyncState",
]
