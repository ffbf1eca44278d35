"""What an extension is, and the host that calls the loaded ones at each step of the core."""

from rolecall.extending.division import (
    KeyDivision,
    KeyHolder,
    KeyHolders,
    SeenMember,
    SeenShards,
    shards_json,
)
from rolecall.extending.engine_ports import (
    EngineFacts,
    EnginePorts,
    KnownByPlace,
    KnownCr,
    by_key,
)
from rolecall.extending.extension import (
    BackgroundPart,
    BindAddress,
    EndedTurn,
    Endpoints,
    EngineView,
    Extension,
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
from rolecall.extending.found import extension_classes, watch_keys
from rolecall.extending.host import Extensions, followed_by
from rolecall.extending.last_runs import LastRuns
from rolecall.reconcile import TurnView

__all__ = [
    "BackgroundPart",
    "BindAddress",
    "CommandView",
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
    "KeyDivision",
    "KeyHolder",
    "KeyHolders",
    "KnownByPlace",
    "KnownCr",
    "LastRuns",
    "MetricsView",
    "SeenMember",
    "SeenShards",
    "TurnView",
    "by_key",
    "extension_classes",
    "followed_by",
    "foresee_nothing",
    "foreseen_by",
    "shards_json",
    "watch_keys",
]
