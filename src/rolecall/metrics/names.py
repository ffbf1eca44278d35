"""Every metric of the engine: name, type, labels and meaning, as one table.

Names and labels that the Go operator has are kept to the letter, type included where it is odd (a gauge
that only counts up), because dashboards match on them. The reference page is made from this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

# The Go client library's own; the Python one's defaults differ.
DURATION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
TURN_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
CALL_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0)


class Kind(Enum):
    """What one may do with a metric."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Name:
    """One metric."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str
    buckets: tuple[float, ...] = ()


# -- as the Go operator has them ---------------------------------------------------------------------
BUILD_INFO = Name(
    "ansible_operator_build_info",
    Kind.GAUGE,
    ("commit", "version"),
    "Always 1; which build this is.",
)
RECONCILE_RESULT = Name(
    "ansible_operator_reconcile_result",
    Kind.GAUGE,
    ("GVK", "result"),
    "Runs that ended, by `succeeded` or `failed`; only ever grows.",
)
RECONCILES = Name(
    "ansible_operator_reconciles",
    Kind.HISTOGRAM,
    ("GVK",),
    "Seconds that runs took, from their start to their end.",
    DURATION_BUCKETS,
)
CREATED_AT = Name(
    "resource_created_at_seconds",
    Kind.GAUGE,
    ("name", "namespace", "group", "version", "kind"),
    "When each CR was created, in seconds since 1970.",
)
RECONCILE_TOTAL = Name(
    "controller_runtime_reconcile_total",
    Kind.COUNTER,
    ("controller", "result"),
    "Turns, by result: success, error, requeue_after.",
)
RECONCILE_ERRORS = Name(
    "controller_runtime_reconcile_errors_total",
    Kind.COUNTER,
    ("controller",),
    "Turns that ended with an error.",
)
TERMINAL_ERRORS = Name(
    "controller_runtime_terminal_reconcile_errors_total",
    Kind.COUNTER,
    ("controller",),
    "Always 0: every error is tried again.",
)
PANICS = Name(
    "controller_runtime_reconcile_panics_total",
    Kind.COUNTER,
    ("controller",),
    "Turns that ended with an error of the engine itself.",
)
RECONCILE_TIME = Name(
    "controller_runtime_reconcile_time_seconds",
    Kind.HISTOGRAM,
    ("controller",),
    "Seconds that turns took.",
    TURN_BUCKETS,
)
MAX_CONCURRENT = Name(
    "controller_runtime_max_concurrent_reconciles",
    Kind.GAUGE,
    ("controller",),
    "Runs of this kind that may be in flight at once.",
)
ACTIVE_WORKERS = Name(
    "controller_runtime_active_workers",
    Kind.GAUGE,
    ("controller",),
    "Turns of this kind in progress.",
)
WORKQUEUE_DEPTH = Name(
    "workqueue_depth", Kind.GAUGE, ("controller", "name"), "Keys of this kind that wait."
)
REST_REQUESTS = Name(
    "rest_client_requests_total",
    Kind.COUNTER,
    ("code", "host", "method"),
    "Requests of the engine itself to the API server.",
)
MASTER_STATUS = Name(
    "leader_election_master_status",
    Kind.GAUGE,
    ("name",),
    "1 while this replica leads, else 0.",
)

# -- ours --------------------------------------------------------------------------------------------
QUEUE_DEPTH = Name(
    "rolecall_queue_depth", Kind.GAUGE, ("urgency",), "Keys that wait for a worker, by why they do."
)
QUEUE_OLDEST = Name(
    "rolecall_queue_oldest_seconds",
    Kind.GAUGE,
    ("urgency",),
    "How long the oldest key that waits has waited.",
)
QUEUE_WAIT = Name(
    "rolecall_queue_wait_seconds",
    Kind.SUMMARY,
    ("urgency",),
    "How long keys had waited when a worker took them.",
)
QUEUE_DELAYED = Name("rolecall_queue_delayed", Kind.GAUGE, (), "Keys that come back at a set time.")
QUEUE_BACKING_OFF = Name(
    "rolecall_queue_backing_off", Kind.GAUGE, (), "Keys whose last turn failed."
)
MAX_RUNS = Name(
    "rolecall_max_runs", Kind.GAUGE, (), "Runs that may be in flight at once, all kinds."
)
RUNS = Name(
    "rolecall_runs_total",
    Kind.COUNTER,
    ("GVK", "result", "way"),
    "Runs that ended, by result and by how they were started.",
)
PHASE = Name(
    "rolecall_phase_seconds",
    Kind.HISTOGRAM,
    ("GVK", "phase"),
    "Seconds of a turn, by phase: queue, prepare, run, status.",
    TURN_BUCKETS,
)
TASKS = Name(
    "rolecall_tasks_total",
    Kind.COUNTER,
    ("way",),
    "Tasks that plays ran, by how they were started.",
)
API_CALL = Name(
    "rolecall_api_call_seconds",
    Kind.HISTOGRAM,
    ("resource", "verb"),
    "Seconds that the engine's own requests to the API server took.",
    CALL_BUCKETS,
)
LOOP_HELD = Name(
    "rolecall_loop_held_seconds",
    Kind.HISTOGRAM,
    (),
    "How long one step held the event loop; only with --loop-limit, only above it.",
    CALL_BUCKETS,
)

NAMES = (
    BUILD_INFO,
    RECONCILE_RESULT,
    RECONCILES,
    CREATED_AT,
    RECONCILE_TOTAL,
    RECONCILE_ERRORS,
    TERMINAL_ERRORS,
    PANICS,
    RECONCILE_TIME,
    MAX_CONCURRENT,
    ACTIVE_WORKERS,
    WORKQUEUE_DEPTH,
    REST_REQUESTS,
    MASTER_STATUS,
    QUEUE_DEPTH,
    QUEUE_OLDEST,
    QUEUE_WAIT,
    QUEUE_DELAYED,
    QUEUE_BACKING_OFF,
    MAX_RUNS,
    RUNS,
    PHASE,
    TASKS,
    API_CALL,
    LOOP_HELD,
)
