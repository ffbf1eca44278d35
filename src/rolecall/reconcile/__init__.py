"""One turn: a key goes in, an `Outcome` comes out. The only room that decides."""

from rolecall.reconcile.annotations import (
    PAUSED_ANNOTATION,
    PAUSED_BECAUSE,
    PAUSED_BY,
    PAUSED_SINCE,
    PauseNote,
    is_deleted,
    pause_note,
    pausing,
    resuming,
    with_spec,
)
from rolecall.reconcile.come_back import periodic
from rolecall.reconcile.finalizers import is_finalizer_run
from rolecall.reconcile.following import (
    NOT_FOLLOWED,
    BegunRun,
    FollowedRun,
    RunFindings,
)
from rolecall.reconcile.loop import Reconciler, random_run_id
from rolecall.reconcile.ports import (
    AccessIssuer,
    AllKeys,
    EndedRun,
    EventRecorder,
    NoFollowers,
    Outcome,
    PlayLog,
    ReconcilerPorts,
    RunAccess,
    RunDefaults,
    SpecKeyFilter,
    TakenTurn,
    Telemetry,
    TurnFollowers,
    TurnHooks,
    TurnTrail,
    TurnView,
)
from rolecall.reconcile.progress import Progress
from rolecall.reconcile.shortened import bounded
from rolecall.reconcile.workers import Workers

__all__ = [
    "NOT_FOLLOWED",
    "PAUSED_ANNOTATION",
    "PAUSED_BECAUSE",
    "PAUSED_BY",
    "PAUSED_SINCE",
    "AccessIssuer",
    "AllKeys",
    "BegunRun",
    "EndedRun",
    "EventRecorder",
    "FollowedRun",
    "NoFollowers",
    "Outcome",
    "PauseNote",
    "PlayLog",
    "Progress",
    "Reconciler",
    "ReconcilerPorts",
    "RunAccess",
    "RunDefaults",
    "RunFindings",
    "SpecKeyFilter",
    "TakenTurn",
    "Telemetry",
    "TurnFollowers",
    "TurnHooks",
    "TurnTrail",
    "TurnView",
    "Workers",
    "bounded",
    "is_deleted",
    "is_finalizer_run",
    "pause_note",
    "pausing",
    "periodic",
    "random_run_id",
    "resuming",
    "with_spec",
]
