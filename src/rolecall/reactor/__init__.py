"""Turns what happens in the cluster into keys in the queue; posts Events; the only room with kopf."""

from rolecall.reactor.dependents import Dependents
from rolecall.reactor.events import Events
from rolecall.reactor.ports import Onlooker, Sink
from rolecall.reactor.reactor import Reactor
from rolecall.reactor.receiver import Hearing

__all__ = ["Dependents", "Events", "Hearing", "Onlooker", "Reactor", "Sink"]
