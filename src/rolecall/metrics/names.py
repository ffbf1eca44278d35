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


class MetricKind(Enum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class MetricSpec:
    name: str
    kind: MetricKind
    labels: tuple[str, ...]
    help: str
    buckets: tuple[float, ...] = ()
    is_read_late: bool = False  # its figures are asked for at each scrape


# -- as the Go operator has them ---------------------------------------------------------------------
BUILD_INFO = MetricSpec(
    "ansible_operator_build_info",
    MetricKind.GAUGE,
    ("commit", "version"),
    "Always 1; which build this is.",
)
RECONCILE_RESULT = MetricSpec(
    "ansible_operator_reconcile_result",
    MetricKind.GAUGE,
    ("GVK", "result"),
    "Runs that ended, by `succeeded` or `failed`; only ever grows.",
)
RECONCILES = MetricSpec(
    "ansible_operator_reconciles",
    MetricKind.HISTOGRAM,
    ("GVK",),
    "Seconds that runs took, from their start to their end.",
    DURATION_BUCKETS,
)
CREATED_AT = MetricSpec(
    "resource_created_at_seconds",
    MetricKind.GAUGE,
    ("name", "namespace", "group", "version", "kind"),
    "When each CR was created, in seconds since 1970.",
    is_read_late=True,
)
RECONCILE_TOTAL = MetricSpec(
    "controller_runtime_reconcile_total",
    MetricKind.COUNTER,
    ("controller", "result"),
    "Reconciles, by result: success, error, requeue_after.",
)
RECONCILE_ERRORS = MetricSpec(
    "controller_runtime_reconcile_errors_total",
    MetricKind.COUNTER,
    ("controller",),
    "Reconciles that ended with an error.",
)
TERMINAL_ERRORS = MetricSpec(
    "controller_runtime_terminal_reconcile_errors_total",
    MetricKind.COUNTER,
    ("controller",),
    "Always 0: every error is tried again.",
)
PANICS = MetricSpec(
    "controller_runtime_reconcile_panics_total",
    MetricKind.COUNTER,
    ("controller",),
    "Reconciles that ended with an internal error of the operator.",
)
RECONCILE_TIME = MetricSpec(
    "controller_runtime_reconcile_time_seconds",
    MetricKind.HISTOGRAM,
    ("controller",),
    "Seconds that reconciles took.",
    TURN_BUCKETS,
)
MAX_CONCURRENT = MetricSpec(
    "controller_runtime_max_concurrent_reconciles",
    MetricKind.GAUGE,
    ("controller",),
    "Most runs of this kind at the same time.",
)
ACTIVE_WORKERS = MetricSpec(
    "controller_runtime_active_workers",
    MetricKind.GAUGE,
    ("controller",),
    "Reconciles of this kind in progress.",
    is_read_late=True,
)
WORKQUEUE_DEPTH = MetricSpec(
    "workqueue_depth",
    MetricKind.GAUGE,
    ("controller", "name"),
    "CRs of this kind that wait for their reconcile.",
    is_read_late=True,
)
REST_REQUESTS = MetricSpec(
    "rest_client_requests_total",
    MetricKind.COUNTER,
    ("code", "host", "method"),
    "Requests of the operator itself to the API server.",
)
MASTER_STATUS = MetricSpec(
    "leader_election_master_status",
    MetricKind.GAUGE,
    ("name",),
    "1 while this replica leads, or has a part of the CRs, else 0.",
)

# -- ours --------------------------------------------------------------------------------------------
CONDITION = MetricSpec(
    "rolecall_resource_condition",
    MetricKind.GAUGE,
    ("name", "namespace", "group", "version", "kind", "type", "reason"),
    "Conditions of each CR, but those of runs: 1 for True, 0 for False, -1 for Unknown.",
    is_read_late=True,
)
QUEUE_DEPTH = MetricSpec(
    "rolecall_queue_depth",
    MetricKind.GAUGE,
    ("urgency",),
    "CRs that wait for their reconcile, by urgency.",
    is_read_late=True,
)
QUEUE_OLDEST = MetricSpec(
    "rolecall_queue_oldest_seconds",
    MetricKind.GAUGE,
    ("urgency",),
    "How long the CR that waits longest has waited.",
    is_read_late=True,
)
QUEUE_AGE = MetricSpec(
    "rolecall_queue_age_seconds",
    MetricKind.GAUGE,
    (),
    "How long the CR that waits longest has waited, of any urgency: what a HorizontalPodAutoscaler"
    " scales replicas by that divide the CRs.",
    is_read_late=True,
)
QUEUE_WAIT = MetricSpec(
    "rolecall_queue_wait_seconds",
    MetricKind.SUMMARY,
    ("urgency",),
    "How long CRs had waited when their reconcile began.",
    is_read_late=True,
)
QUEUE_DELAYED = MetricSpec(
    "rolecall_queue_delayed",
    MetricKind.GAUGE,
    (),
    "CRs that will be reconciled at a set time.",
    is_read_late=True,
)
QUEUE_BACKING_OFF = MetricSpec(
    "rolecall_queue_backing_off",
    MetricKind.GAUGE,
    (),
    "CRs whose last reconcile failed.",
    is_read_late=True,
)
WAITING_RUNS = MetricSpec(
    "rolecall_waiting_runs",
    MetricKind.GAUGE,
    ("GVK",),
    "Runs in flight that wait, and have left their place among `rolecall_max_runs` to others.",
    is_read_late=True,
)
MAX_WAITING = MetricSpec(
    "rolecall_max_waiting",
    MetricKind.GAUGE,
    (),
    "Most runs that may do so at the same time.",
    is_read_late=True,
)
MAX_RUNS = MetricSpec(
    "rolecall_max_runs",
    MetricKind.GAUGE,
    (),
    "Most runs of all kinds at the same time.",
    is_read_late=True,
)
RUNS = MetricSpec(
    "rolecall_runs_total",
    MetricKind.COUNTER,
    ("GVK", "result", "way"),
    "Runs that ended, by result and by how they were started.",
)
PHASE = MetricSpec(
    "rolecall_phase_seconds",
    MetricKind.HISTOGRAM,
    ("GVK", "phase"),
    "Seconds of a reconcile, by phase: queue, prepare, run, status.",
    TURN_BUCKETS,
)
TASKS = MetricSpec(
    "rolecall_tasks_total",
    MetricKind.COUNTER,
    ("way",),
    "Tasks that plays ran, by how they were started.",
)
WARM_STATE = MetricSpec(
    "rolecall_warm_state",
    MetricKind.GAUGE,
    ("state",),
    "State of warm runs: 1 for the current one of known, proving, proven and refused, else 0.",
)
API_CALL = MetricSpec(
    "rolecall_api_call_seconds",
    MetricKind.HISTOGRAM,
    ("resource", "verb"),
    "Seconds that requests of the operator itself to the API server took.",
    CALL_BUCKETS,
)
PART_RESTARTS = MetricSpec(
    "rolecall_part_restarts_total",
    MetricKind.COUNTER,
    ("part",),
    "How often a part (a stream, the workers) was restarted after an internal error; see the log.",
)
DEPENDENTS_LACKING = MetricSpec(
    "rolecall_dependents_lacking",
    MetricKind.GAUGE,
    (),
    "Kinds of dependents that cannot be watched completely: their changes wait for the period.",
)
LOOP_HELD = MetricSpec(
    "rolecall_loop_held_seconds",
    MetricKind.HISTOGRAM,
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
    CONDITION,
    QUEUE_DEPTH,
    QUEUE_OLDEST,
    QUEUE_AGE,
    QUEUE_WAIT,
    QUEUE_DELAYED,
    QUEUE_BACKING_OFF,
    MAX_RUNS,
    MAX_WAITING,
    WAITING_RUNS,
    RUNS,
    PHASE,
    TASKS,
    WARM_STATE,
    API_CALL,
    PART_RESTARTS,
    DEPENDENTS_LACKING,
    LOOP_HELD,
)
