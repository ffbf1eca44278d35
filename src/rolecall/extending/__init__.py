"""What an extension is, and the host that calls the loaded ones at each step of the core."""

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
from rolecall.extending.host import Extensions
from rolecall.extending.run_record import warn_without_run_record
from rolecall.reconcile import TurnView

__all__ = [
    "BackgroundPart",
    "BindAddress",
    "CommandView",
    "EndedTurn",
    "Endpoints",
    "EngineView",
    "Extension",
    "Extensions",
    "Foresee",
    "Foreseen",
    "ForeseenObject",
    "MetricsView",
    "TurnView",
    "extension_classes",
    "foresee_nothing",
    "foreseen_by",
    "warn_without_run_record",
    "watch_keys",
]
