"""What an extension is, and the host that calls the loaded ones at each step of the core."""

from rolecall.extending.extension import EndedTurn, EngineView, Extension, MetricsView
from rolecall.extending.found import extension_classes
from rolecall.extending.host import Extensions

__all__ = [
    "EndedTurn",
    "EngineView",
    "Extension",
    "Extensions",
    "MetricsView",
    "extension_classes",
]
