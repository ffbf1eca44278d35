"""Counters, health and readiness, and metrics that roles set; served over HTTP."""

from rolecall.metrics.collectors import FigureRow
from rolecall.metrics.engine_metrics import EngineMetrics
from rolecall.metrics.loop_monitor import LoopMonitor
from rolecall.metrics.names import CALL_BUCKETS, MASTER_STATUS, NAMES, MetricKind, MetricSpec
from rolecall.metrics.probes import Probe, ProbeCheck
from rolecall.metrics.review import Reviewer
from rolecall.metrics.role_metrics import RoleMetricError, RoleMetrics
from rolecall.metrics.server import metrics_app, probes_app, role_metrics_app

__all__ = [
    "CALL_BUCKETS",
    "MASTER_STATUS",
    "NAMES",
    "EngineMetrics",
    "FigureRow",
    "LoopMonitor",
    "MetricKind",
    "MetricSpec",
    "Probe",
    "ProbeCheck",
    "Reviewer",
    "RoleMetricError",
    "RoleMetrics",
    "metrics_app",
    "probes_app",
    "role_metrics_app",
]
