"""Turns what happens in the cluster into keys in the queue; posts Events."""

from rolecall.reactor.dependent_informers import DependentInformers
from rolecall.reactor.digest import digest_of
from rolecall.reactor.event_recorder import ApiEventRecorder
from rolecall.reactor.informer import Informer
from rolecall.reactor.known_crs import SyncState
from rolecall.reactor.newest_crs import NewestCrs
from rolecall.reactor.own_writes import CallLater, OwnWrites, call_after_notes
from rolecall.reactor.ports import CrMetrics, ListAgain, Sink
from rolecall.reactor.reactor import Reactor

__all__ = [
    "ApiEventRecorder",
    "CallLater",
    "CrMetrics",
    "DependentInformers",
    "Informer",
    "ListAgain",
    "NewestCrs",
    "OwnWrites",
    "Reactor",
    "Sink",
    "SyncState",
    "call_after_notes",
    "digest_of",
]
