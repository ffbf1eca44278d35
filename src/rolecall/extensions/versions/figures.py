"""What is counted of the API server's questions."""

from __future__ import annotations

from rolecall.extending import MetricsView
from rolecall.gvk import Gvk
from rolecall.metrics import CALL_BUCKETS, MetricKind, MetricSpec

CONVERSION = MetricSpec(
    "rolecall_conversion_seconds",
    MetricKind.HISTOGRAM,
    ("kind", "result"),
    "Seconds that conversions took, one for each request of the API server; result: success, failure.",
    CALL_BUCKETS,
)
CONVERTED = MetricSpec(
    "rolecall_converted_objects_total",
    MetricKind.COUNTER,
    ("kind", "result"),
    "Objects that the API server sent to be converted; a list comes in one request.",
)
ADMISSION_REQUESTS = MetricSpec(
    "rolecall_admission_requests_total",
    MetricKind.COUNTER,
    ("GVK", "review", "operation", "result"),
    "Requests of the API server for admission that plays answered, by `validate` or `mutate`, and by"
    " allowed, denied or failed: no verdict, so that `failurePolicy` decided.",
)
ADMISSION_TIME = MetricSpec(
    "rolecall_admission_seconds",
    MetricKind.HISTOGRAM,
    ("GVK", "review"),
    "Seconds that answers to requests for admission took, waiting included.",
    (0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
VERSION_METRICS = (CONVERSION, CONVERTED, ADMISSION_REQUESTS, ADMISSION_TIME)


class VersionFigures:
    def __init__(self, metrics: MetricsView) -> None:
        self._metrics = metrics

    def converted(self, kind: str, is_success: bool, count: int, seconds: float) -> None:
        """The API server had so many objects of a kind converted."""
        labels = {"kind": kind, "result": "success" if is_success else "failure"}
        self._metrics.of(CONVERSION, **labels).observe(seconds)
        self._metrics.of(CONVERTED, **labels).inc(count)

    def admission_answered(
        self, gvk: Gvk, *, review: str, operation: str, result: str, seconds: float
    ) -> None:
        """The API server asked about an object; `result`: allowed, denied or failed."""
        labels = {"GVK": str(gvk), "review": review}
        answered = self._metrics.of(
            ADMISSION_REQUESTS, **labels, operation=operation, result=result
        )
        answered.inc()
        self._metrics.of(ADMISSION_TIME, **labels).observe(seconds)
