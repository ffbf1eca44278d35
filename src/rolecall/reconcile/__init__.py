"""The story: a key goes in, an `Outcome` comes out. The only room that decides."""

from rolecall.reconcile.loop import Reconciler
from rolecall.reconcile.ports import (
    AccessIssuer,
    Cluster,
    EventRecorder,
    Outcome,
    PlayLog,
    RunAccess,
    RunDefaults,
    Telemetry,
    World,
)
from rolecall.reconcile.requests import PAUSED as PAUSED_ANNOTATION
from rolecall.reconcile.workers import Workers

__all__ = [
    "PAUSED_ANNOTATION",
    "AccessIssuer",
    "Cluster",
    "EventRecorder",
    "Outcome",
    "PlayLog",
    "Reconciler",
    "RunAccess",
    "RunDefaults",
    "Telemetry",
    "Workers",
    "World",
]
