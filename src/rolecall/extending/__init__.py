"""What an extension is, and the host that calls the loaded ones at each step of the core."""

from rolecall.extending.elected import election_of
from rolecall.extending.engine_ports import (
    Act,
    EngineFacts,
    EnginePorts,
    KnownByPlace,
    KnownCr,
    LoggedLine,
    by_key,
)
from rolecall.extending.extension import (
    BackgroundPart,
    BindAddress,
    ElectionView,
    EndedTurn,
    Endpoints,
    EngineView,
    Extension,
    GiveVerdict,
    IssueWorldAccess,
    MetricsView,
)
from rolecall.extending.foreseen import (
    CommandView,
    Foresee,
    Foreseen,
    ForeseenObject,
    foresee_nothing,
    foreseen_by,
)
from rolecall.extending.found import extension_classes, extension_metrics, watch_keys
from rolecall.extending.host import Extensions, followed_by
from rolecall.extending.last_runs import HeldFacts, HeldRun, LastRuns
from rolecall.reconcile import TurnView

__all__ = [
    "Act",
    "BackgroundPart",
    "BindAddress",
    "CommandView",
    "ElectionView",
    "EndedTurn",
    "Endpoints",
    "EngineFacts",
    "EnginePorts",
    "EngineView",
    "Extension",
    "Extensions",
    "Foresee",
    "Foreseen",
    "ForeseenObject",
    "GiveVerdict",
    "HeldFacts",
    "HeldRun",
    "IssueWorldAccess",
    "KnownByPlace",
    "KnownCr",
    "LastRuns",
    "LoggedLine",
    "MetricsView",
    "TurnView",
    "by_key",
    "election_of",
    "extension_classes",
    "extension_metrics",
    "followed_by",
    "foresee_nothing",
    "foreseen_by",
    "watch_keys",
]
