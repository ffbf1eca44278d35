"""Counters, health and readiness, and metrics that roles set; served over HTTP."""

from rolecall.metrics.address import Address, is_loopback, parse_address
from rolecall.metrics.certificate import tls_for_server
from rolecall.metrics.collectors import FigureRow
from rolecall.metrics.engine_metrics import EngineMetrics, ShardFigures
from rolecall.metrics.loop_monitor import LoopMonitor
from rolecall.metrics.names import CALL_BUCKETS, NAMES, MetricKind, MetricSpec
from rolecall.metrics.probes import Probe, ProbeCheck
from rolecall.metrics.review import Reviewer
from rolecall.metrics.role_metrics import RoleMetricError, RoleMetrics
from rolecall.metrics.server import metrics_app, probes_app, role_metrics_app, served

__all__ = [
    "CALL_BUCKETS",
    "NAMES",
    "Address",
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
    "ShardFigures",
    "is_loopback",
    "metrics_app",
    "parse_address",
    "probes_app",
    "role_metrics_app",
    "served",
    "tls_for_server",
]
