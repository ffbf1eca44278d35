"""One turn: a key goes in, an `Outcome` comes out. The only room that decides."""

from rolecall.reconcile.annotations import (
    MODE_ANNOTATION,
    PAUSED_ANNOTATION,
    PAUSED_BECAUSE,
    PAUSED_BY,
    pausing,
    resuming,
)
from rolecall.reconcile.following import (
    NOT_FOLLOWED,
    BegunRun,
    FollowedRun,
    RunFindings,
)
from rolecall.reconcile.loop import Reconciler
from rolecall.reconcile.ports import (
    AccessIssuer,
    AllKeys,
    Drift,
    DriftFinder,
    EndedRun,
    EventRecorder,
    Outcome,
    PlayLog,
    ReconcilerPorts,
    RunAccess,
    RunDefaults,
    SpecKeyFilter,
    Telemetry,
    TurnHooks,
    TurnTrail,
    TurnView,
)
from rolecall.reconcile.progress import Progress
from rolecall.reconcile.workers import Workers

__all__ = [
    "MODE_ANNOTATION",
    "NOT_FOLLOWED",
    "PAUSED_ANNOTATION",
    "PAUSED_BECAUSE",
    "PAUSED_BY",
    "AccessIssuer",
    "AllKeys",
    "BegunRun",
    "Drift",
    "DriftFinder",
    "EndedRun",
    "EventRecorder",
    "FollowedRun",
    "Outcome",
    "PlayLog",
    "Progress",
    "Reconciler",
    "ReconcilerPorts",
    "RunAccess",
    "RunDefaults",
    "RunFindings",
    "SpecKeyFilter",
    "Telemetry",
    "TurnHooks",
    "TurnTrail",
    "TurnView",
    "Workers",
    "pausing",
    "resuming",
]
