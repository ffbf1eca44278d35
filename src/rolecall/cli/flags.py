"""Every flag of `rolecall run`: its name, type, default and meaning, as one table.

The Go operator's flags keep their names, defaults and deprecated aliases, so that a Deployment written
for it starts this engine unchanged. Help, reference page, environment names and settings are all made
from this table; there is no second list to forget. Rejected: argparse calls as the source of truth,
because the reference page and the environment would have needed argparse's private parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """How a flag's text is read; the value names it in help."""

    TEXT = "TEXT"
    PATH = "PATH"
    TRUTH = "true|false"
    WHOLE = "NUMBER"
    NUMBER = "DECIMAL"
    BYTES = "BYTES"
    DURATION = "DURATION"


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag. `default` is what somebody would have typed to get it; empty means none."""

    name: str
    kind: Kind
    default: str
    help: str
    choices: tuple[str, ...] = ()
    alias_of: str = ""  # deprecated: use that one
    is_ignored: bool = False  # accepted so that old command lines start, without effect

    @property
    def variable(self) -> str:
        """The environment variable that sets this flag where it was not typed."""
        return "ROLECALL_" + self.name.upper().replace("-", "_")

    @property
    def key(self) -> str:
        """The name in Python."""
        return self.name.replace("-", "_")


@dataclass(frozen=True, slots=True)
class Group:
    """Flags that one reads together."""

    title: str
    flags: tuple[Flag, ...]


WATCHES = Group(
    "watches",
    (
        Flag("watches-file", Kind.PATH, "./watches.yaml", "which kinds run which roles"),
        Flag(
            "reconcile-period",
            Kind.DURATION,
            "10h",
            "look at each CR again after this long; 0 never does; an entry's `reconcilePeriod` and the"
            " CR's annotation go first",
        ),
        Flag(
            "max-concurrent-reconciles",
            Kind.WHOLE,
            "",
            "runs in flight for each kind; default: the number of CPUs; the environment variable"
            " MAX_CONCURRENT_RECONCILES_<KIND>_<GROUP> goes first",
        ),
        Flag(
            "max-runs",
            Kind.WHOLE,
            "0",
            "runs in flight over all kinds; 0: from the CPUs and memory that this process is granted",
        ),
    ),
)

RUNS = Group(
    "runs",
    (
        Flag(
            "runner",
            Kind.TEXT,
            "warm",
            "how runs start: `warm` forks them from a host that has Ansible loaded, `stock` starts"
            " ansible-playbook for each",
            choices=("warm", "stock"),
        ),
        Flag("ansible-args", Kind.TEXT, "", "more arguments for ansible-playbook"),
        Flag(
            "ansible-verbosity",
            Kind.WHOLE,
            "2",
            "how many `v` ansible-playbook is given; ANSIBLE_VERBOSITY_<KIND>_<GROUP> and the CR's"
            " annotation go first",
        ),
        Flag(
            "ansible-roles-path",
            Kind.TEXT,
            "",
            "where roles are looked up, separated by `:`; goes before ANSIBLE_ROLES_PATH",
        ),
        Flag(
            "ansible-collections-path",
            Kind.TEXT,
            "",
            "where collections are looked up, separated by `:`; goes before ANSIBLE_COLLECTIONS_PATH",
        ),
        Flag(
            "run-timeout",
            Kind.DURATION,
            "0",
            "end a run that takes longer, with all its processes; 0: no limit",
        ),
        Flag(
            "no-progress-timeout",
            Kind.DURATION,
            "0",
            "end a run that reported nothing for so long; 0: no limit",
        ),
        Flag(
            "trust-cr-text",
            Kind.TRUTH,
            "false",
            "let Ansible template text that comes from CRs, as the Go operator does: whoever may write"
            " a CR may then run code in the operator",
        ),
        Flag(
            "artifacts-dir",
            Kind.PATH,
            "/tmp/ansible-operator/runner",  # noqa: S108 - a published path; made 0700
            "where each CR's folder with inputs and artifacts of its runs lives",
        ),
        Flag("keep-days", Kind.NUMBER, "0", "delete artifacts older than this; 0: by number only"),
        Flag(
            "keep-bytes",
            Kind.BYTES,
            "0",
            "delete the oldest artifacts of a CR above this size, such as `50Mi`; 0: no limit",
        ),
        Flag(
            "warm-idle",
            Kind.DURATION,
            "0",
            "end the warm host after so long without a run, to free its memory; 0: never",
        ),
    ),
)

PROXY = Group(
    "proxy for plays",
    (
        Flag("proxy-port", Kind.WHOLE, "8888", "loopback port; 0: any free one"),
        Flag(
            "inject-owner-ref",
            Kind.TRUTH,
            "true",
            "own what plays create, and reconcile when it changes",
        ),
        Flag(
            "proxy-record",
            Kind.PATH,
            "",
            "append what plays asked of the API server to this file, one JSON line each: the base for"
            " RBAC rules; no names, no bodies",
        ),
    ),
)

METRICS = Group(
    "metrics and probes",
    (
        Flag(
            "metrics-bind-address",
            Kind.TEXT,
            ":8443",
            "where /metrics is served; `0` does not serve it",
        ),
        Flag(
            "metrics-addr",
            Kind.TEXT,
            "",
            "use --metrics-bind-address",
            alias_of="metrics-bind-address",
        ),
        Flag(
            "metrics-secure",
            Kind.TRUTH,
            "false",
            "serve metrics by HTTPS, with the certificate in"
            " $TMPDIR/k8s-metrics-server/serving-certs, or a self-signed one",
        ),
        Flag(
            "metrics-require-rbac",
            Kind.TRUTH,
            "false",
            "answer only tokens that may `get` /metrics; needs --metrics-secure",
        ),
        Flag(
            "enable-http2",
            Kind.TRUTH,
            "false",
            "accepted; metrics are always served by HTTP/1.1",
            is_ignored=True,
        ),
        Flag(
            "health-probe-bind-address",
            Kind.TEXT,
            ":6789",
            "where /healthz and /readyz are served; `0` does not serve them",
        ),
        Flag(
            "role-metrics-port",
            Kind.WHOLE,
            "5050",
            "loopback port where roles set their own metrics; 0: any free one",
        ),
    ),
)

ELECTION = Group(
    "leader election",
    (
        Flag("leader-elect", Kind.TRUTH, "false", "only one of several replicas reconciles"),
        Flag(
            "enable-leader-election",
            Kind.TRUTH,
            "",
            "use --leader-elect",
            alias_of="leader-elect",
        ),
        Flag("leader-election-id", Kind.TEXT, "", "name of the Lease; needed for --leader-elect"),
        Flag(
            "leader-election-namespace",
            Kind.TEXT,
            "",
            "namespace of the Lease; default: that of the pod",
        ),
        Flag(
            "leader-elect-resource-lock",
            Kind.TEXT,
            "configmapsleases",
            "accepted; the lock is always a Lease",
            is_ignored=True,
        ),
        Flag(
            "leader-elect-lease-duration",
            Kind.DURATION,
            "15s",
            "another replica may lead when the Lease was not renewed for so long",
        ),
        Flag(
            "leader-elect-renew-deadline",
            Kind.DURATION,
            "10s",
            "the leader writes nothing more when it could not renew for so long",
        ),
    ),
)

LOGS = Group(
    "logs",
    (
        Flag(
            "log-format",
            Kind.TEXT,
            "people",
            "lines for people, or JSON with the Go operator's keys",
            choices=("people", "json"),
        ),
        Flag(
            "ansible-log-events",
            Kind.TEXT,
            "tasks",
            "which of a play's events are printed: nothing, tasks, everything",
        ),
        Flag(
            "zap-log-level",
            Kind.TEXT,
            "info",
            "debug, info, error, panic, or a number: 1 is debug, 2 lets libraries speak too",
        ),
        Flag(
            "zap-encoder",
            Kind.TEXT,
            "",
            "`json` is --log-format=json, `console` is --log-format=people",
            choices=("json", "console"),
        ),
        Flag("zap-devel", Kind.TRUTH, "false", "lines for people, debug level"),
        Flag(
            "zap-stacktrace-level",
            Kind.TEXT,
            "error",
            "print tracebacks from this level on",
            choices=("info", "error", "panic"),
        ),
        Flag(
            "zap-time-encoding",
            Kind.TEXT,
            "rfc3339",
            "how JSON lines spell the time",
            choices=("epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano"),
        ),
    ),
)

PROCESS = Group(
    "process",
    (
        Flag(
            "graceful-shutdown-timeout",
            Kind.DURATION,
            "30s",
            "on SIGTERM, let runs in flight go on for at most so long",
        ),
        Flag(
            "ports-file",
            Kind.PATH,
            "",
            "write the ports that were really bound to this file, as JSON",
        ),
        Flag(
            "loop-limit",
            Kind.DURATION,
            "0",
            "for debugging: log whatever holds the event loop for longer; 0: do not look",
        ),
    ),
)

GROUPS = (WATCHES, RUNS, PROXY, METRICS, ELECTION, LOGS, PROCESS)
FLAGS = {flag.name: flag for group in GROUPS for flag in group.flags}
