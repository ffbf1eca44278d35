"""What an extension is, and the host that calls the loaded ones at each step of the core."""

from rolecall.extending.extension import (
    BackgroundPart,
    EndedTurn,
    Endpoints,
    EngineView,
    Extension,
    Foreseen,
    ForeseenObject,
    MetricsView,
)
from rolecall.extending.found import extension_classes, watch_keys
from rolecall.extending.host import Extensions
from rolecall.extending.run_record import warn_without_run_record
from rolecall.reconcile import TurnView

__all__ = [
    "BackgroundPart",
    "EndedTurn",
    "Endpoints",
    "EngineView",
    "Extension",
    "Extensions",
    "Foreseen",
    "ForeseenObject",
    "MetricsView",
    "TurnView",
    "extension_classes",
    "warn_without_run_record",
    "watch_keys",
]
