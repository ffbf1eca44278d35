"""The engine's own flags of `rolecall run`, as one table; extensions add theirs.

The Go operator's flags keep their names, defaults and deprecated aliases, so that a Deployment written
for it starts this engine unchanged. Help, reference page and environment names are made from this
table; there is no second list to forget. Rejected: argparse calls as the source of truth, because the
reference page and the environment would have needed argparse's private parts.
"""

from __future__ import annotations

from rolecall.settings.flags import Flag, FlagGroup, FlagKind

_WATCHES = FlagGroup(
    "watches",
    (
        Flag("watches-file", FlagKind.PATH, "./watches.yaml", "which kinds run which roles"),
        Flag(
            "validate",
            FlagKind.TRUTH,
            "false",
            "check flags, watches.yaml and the roles that it names, then exit: 0, or 2 if the"
            " operator would not start; no cluster is needed",
        ),
        Flag(
            "reconcile-period",
            FlagKind.DURATION,
            "10h",
            "reconcile each CR again after this time; 0: never; `reconcilePeriod` in watches.yaml"
            " and the CR's annotation come first",
        ),
        Flag(
            "max-concurrent-reconciles",
            FlagKind.WHOLE,
            "",
            "most runs of one kind at the same time; default: the number of CPUs; the"
            " environment variable MAX_CONCURRENT_RECONCILES_<KIND>_<GROUP> comes first",
        ),
        Flag(
            "max-runs",
            FlagKind.WHOLE,
            "0",
            "most runs of all kinds at the same time; 0: as many as the CPUs and memory of"
            " this process allow",
        ),
        Flag(
            "max-waiting",
            FlagKind.WHOLE,
            "",
            "most runs that wait (for pods, in `pause`, between two tries of `until`) and leave their"
            " place to others meanwhile, beside `--max-runs`; default: as many as memory allows; 0:"
            " a run keeps its place while it waits",
        ),
        Flag(
            "dependents-delay",
            FlagKind.DURATION,
            "1s",
            "for so long after a run, changes of what plays created wait, and then bring one run; 0:"
            " each brings its run at once",
        ),
    ),
)

_RUNS = FlagGroup(
    "runs",
    (
        Flag(
            "runner",
            FlagKind.TEXT,
            "warm",
            "how runs start: `warm` forks a process that has Ansible loaded, `stock` starts"
            " ansible-playbook each time",
            choices=("warm", "stock"),
        ),
        Flag("ansible-args", FlagKind.TEXT, "", "more arguments for ansible-playbook"),
        Flag(
            "ansible-verbosity",
            FlagKind.WHOLE,
            "2",
            "how many `v` ansible-playbook is given; ANSIBLE_VERBOSITY_<KIND>_<GROUP> and the CR's"
            " annotation come first",
        ),
        Flag(
            "ansible-roles-path",
            FlagKind.TEXT,
            "",
            "folders with roles, separated by `:`; searched before those of ANSIBLE_ROLES_PATH",
        ),
        Flag(
            "ansible-collections-path",
            FlagKind.TEXT,
            "",
            "folders with collections, separated by `:`; searched before those of"
            " ANSIBLE_COLLECTIONS_PATH",
        ),
        Flag(
            "run-timeout",
            FlagKind.DURATION,
            "0",
            "stop a run that takes longer than this; 0: no limit",
        ),
        Flag(
            "no-progress-timeout",
            FlagKind.DURATION,
            "1h",
            "stop a run that printed nothing for this long; 0: no limit",
        ),
        Flag(
            "trust-cr-text",
            FlagKind.TRUTH,
            "false",
            "let Ansible template text that comes from CRs, as the Go operator does: anyone who can"
            " write a CR can then execute code in the operator",
        ),
        Flag(
            "artifacts-dir",
            FlagKind.PATH,
            "/tmp/ansible-operator/runner",  # noqa: S108 - a published path; made 0700
            "folder for the inputs and artifacts of runs, with one folder for each CR",
        ),
        Flag(
            "keep-days", FlagKind.NUMBER, "0", "delete artifacts after this many days; 0: no limit"
        ),
        Flag(
            "keep-bytes",
            FlagKind.BYTES,
            "0",
            "keep at most this size of artifacts for each CR, such as `50Mi`; 0: no limit",
        ),
        Flag(
            "keep-total-bytes",
            FlagKind.BYTES,
            "2Gi",
            "keep at most this size of artifacts for all CRs together; 0: no limit",
        ),
        Flag(
            "warm-idle",
            FlagKind.DURATION,
            "0",
            "stop the process from which warm runs are forked after this long without a run,"
            " to free its memory; 0: never",
        ),
    ),
)

_PROXY = FlagGroup(
    "proxy for plays",
    (
        Flag("proxy-port", FlagKind.WHOLE, "8888", "port on localhost; 0: any free one"),
        Flag(
            "inject-owner-ref",
            FlagKind.TRUTH,
            "true",
            "set the CR as owner of the objects that plays create, and reconcile it when they change",
        ),
        Flag(
            "allow-impersonation",
            FlagKind.TRUTH,
            "false",
            "pass the `Impersonate-*` headers of plays to the API server; else such a request gets 403",
        ),
        Flag(
            "adopt",
            FlagKind.TRUTH,
            "false",
            "make the CR own, too, what its role writes and finds without an owner; else an Event"
            " names such objects",
        ),
        Flag(
            "proxy-record",
            FlagKind.PATH,
            "",
            "append the requests of plays to this file, one JSON line each, without names and bodies;"
            " `rolecall rbac` makes rules of it",
        ),
    ),
)

_METRICS = FlagGroup(
    "metrics and probes",
    (
        Flag(
            "metrics-bind-address",
            FlagKind.TEXT,
            ":8443",
            "address where /metrics is served; `0`: nowhere",
        ),
        Flag(
            "metrics-addr",
            FlagKind.TEXT,
            "",
            "use --metrics-bind-address",
            alias_of="metrics-bind-address",
        ),
        Flag(
            "metrics-secure",
            FlagKind.TRUTH,
            "false",
            "serve metrics with HTTPS, using the certificate in"
            " $TMPDIR/k8s-metrics-server/serving-certs, or a self-signed one",
        ),
        Flag(
            "metrics-require-rbac",
            FlagKind.TRUTH,
            "false",
            "serve metrics only to clients with a token that RBAC allows to `get` /metrics;"
            " needs --metrics-secure",
        ),
        Flag(
            "enable-http2",
            FlagKind.TRUTH,
            "false",
            "no effect; metrics are always served with HTTP/1.1",
            is_ignored=True,
        ),
        Flag(
            "health-probe-bind-address",
            FlagKind.TEXT,
            ":6789",
            "address where /healthz and /readyz are served; `0`: nowhere",
        ),
        Flag(
            "role-metrics-port",
            FlagKind.WHOLE,
            "5050",
            "port on localhost where roles set their own metrics; 0: any free one",
        ),
    ),
)

_ELECTION = FlagGroup(
    "leader election",
    (
        Flag(
            "leader-elect",
            FlagKind.TRUTH,
            "false",
            "elect one of several replicas as leader; only the leader reconciles",
        ),
        Flag(
            "enable-leader-election",
            FlagKind.TRUTH,
            "",
            "use --leader-elect",
            alias_of="leader-elect",
        ),
        Flag(
            "leader-election-id",
            FlagKind.TEXT,
            "",
            "name of the Lease; needed for --leader-elect, and where replicas divide the CRs, by Leases"
            " whose names begin with it",
        ),
        Flag(
            "leader-election-namespace",
            FlagKind.TEXT,
            "",
            "namespace of these Leases; default: that of the pod",
        ),
        Flag(
            "leader-elect-resource-lock",
            FlagKind.TEXT,
            "configmapsleases",
            "no effect; the lock is always a Lease",
            is_ignored=True,
        ),
        Flag(
            "leader-elect-lease-duration",
            FlagKind.DURATION,
            "15s",
            "another replica may take over when the Lease was not renewed for this long",
        ),
        Flag(
            "leader-elect-renew-deadline",
            FlagKind.DURATION,
            "10s",
            "a replica stops writing when it could not renew its Lease for this long",
        ),
    ),
)

_LOGS = FlagGroup(
    "logs",
    (
        Flag(
            "dev",
            FlagKind.TRUTH,
            "false",
            "for those who write roles: a line for each task with result and seconds, failures in full,"
            " and short lines of the engine; outside of a pod, any free port for each listener whose"
            " port is not set",
        ),
        Flag(
            "log-format",
            FlagKind.TEXT,
            "people",
            "`people`: lines to read; `json`: JSON with the keys of the Go operator",
            choices=("people", "json"),
        ),
        Flag(
            "ansible-log-events",
            FlagKind.TEXT,
            "tasks",
            "what is printed of plays: nothing, tasks, everything",
        ),
        Flag(
            "zap-log-level",
            FlagKind.TEXT,
            "info",
            "debug, info, error, panic, or a number: 1 is debug, 2 also prints what libraries log",
        ),
        Flag(
            "zap-encoder",
            FlagKind.TEXT,
            "",
            "`json` is --log-format=json, `console` is --log-format=people",
            choices=("json", "console"),
        ),
        Flag("zap-devel", FlagKind.TRUTH, "false", "short for --zap-log-level=debug"),
        Flag(
            "zap-stacktrace-level",
            FlagKind.TEXT,
            "error",
            "print tracebacks with messages of this level and above",
            choices=("info", "error", "panic"),
        ),
        Flag(
            "zap-time-encoding",
            FlagKind.TEXT,
            "rfc3339",
            "format of times in JSON lines",
            choices=("epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano"),
        ),
    ),
)

_PROCESS = FlagGroup(
    "process",
    (
        Flag(
            "graceful-shutdown-timeout",
            FlagKind.DURATION,
            "30s",
            "on SIGTERM, wait this long for current runs to end; also before CRs are"
            " handed over to another replica",
        ),
        Flag(
            "ports-file",
            FlagKind.PATH,
            "",
            "write the ports that are used to this file, as JSON",
        ),
        Flag(
            "loop-limit",
            FlagKind.DURATION,
            "0",
            "for debugging the operator itself: log what blocks its event loop for longer; 0: off",
        ),
    ),
)

ENGINE_GROUPS = (_WATCHES, _RUNS, _PROXY, _METRICS, _ELECTION, _LOGS, _PROCESS)
ENGINE_FLAGS = {flag.name: flag for group in ENGINE_GROUPS for flag in group.flags}
