"""Every setting of the engine, one frozen dataclass a room, defaults as the Go operator has them.

Filled from flags and environment by `cli/run`, handed to rooms by `app.py`. Rooms never read the
environment themselves: what is not in here, is not a setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from rolecall.settings.flags import ExtensionFlags

_Flags = TypeVar("_Flags", bound=ExtensionFlags)


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """What an entry of watches.yaml falls back to."""

    reconcile_period_s: float = 36000.0  # <= 0: no periodic reconcile
    max_concurrent_reconciles: int | None = None  # per kind; None: as many as there are CPUs
    verbosity: int = 2  # how many `v` ansible-playbook is given


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """How keys wait."""

    # Runs in flight over all kinds; None: from the CPUs and memory that the cgroup really grants.
    max_runs: int | None = None
    # Runs in flight that wait, beside those; None: as many as memory takes.
    max_waiting: int | None = None
    # A key that waited this long is passed by three more urgent ones at most, so nothing starves.
    ageing_s: float = 30.0
    # For so long after a run, what changes of the objects that plays made waits; 0: never.
    dependents_delay_s: float = 1.0
    # Periods are stretched by up to this part, so that thousands of CRs do not come back at once.
    jitter: float = 0.1
    backoff_start_s: float = 0.005  # after an error of the API server, or of the engine
    role_backoff_start_s: float = 1.0  # after a run that failed
    backoff_cap_s: float = 1000.0


@dataclass(frozen=True, slots=True)
class RunnerSettings:
    # Where each CR's private folder lives; the Go operator's place, so that tools find it.
    root: Path = Path("/tmp/ansible-operator/runner")  # noqa: S108 - a published path; made 0700
    cluster: str = ""  # which one the folders are of; empty: of none, and no engine sweeps them
    server: str = ""  # of that cluster, as kubeconfigs name it; kept with each run, for commands
    # `warm` forks runs from a warm host (Linux), `stock` starts ansible-playbook for each run.
    way: str = "warm"
    ansible_args: str = ""
    inventory: Path | None = None  # ANSIBLE_INVENTORY
    skip_facts: bool = False  # ANSIBLE_GATHERING=explicit
    trust_cr_text: bool = False  # CR text may be templated: the dangerous old way
    timeout_s: float | None = None
    no_progress_timeout_s: float | None = 3600.0  # nothing waits so long and prints nothing
    keep_days: float | None = None  # artifacts older than this go, whatever their number
    keep_bytes: int | None = None  # artifacts of one CR above this go, oldest first
    keep_total_bytes: int | None = 2 * 1024**3  # the same for all CRs together
    roles_path: str = ""
    collections_path: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)  # added to that of every run
    debug_logs: bool = False  # ANSIBLE_DEBUG_LOGS: print the whole stdout after each run
    memory_bytes: int | None = None  # what runs in flight may take together; None: no limit
    warm_idle_s: float | None = None  # end the warm host after so long without a run; None: never


@dataclass(frozen=True, slots=True)
class ReactorSettings:
    """What is watched, and how its streams are kept alive."""

    namespaces: tuple[str, ...] = ()  # empty: all
    # A stream that brought nothing, not even a bookmark, for so long is reconnected and relisted.
    silence_s: float = 300.0


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """The proxy through which plays reach the API server."""

    port: int = 8888  # 0: any free one
    inject_owner: bool = True
    allows_impersonation: bool = False  # a play may send `Impersonate-*`; else it gets 403
    adopts: bool = False  # objects without an owner that a role writes get the CR as theirs
    folder: Path | None = None  # of kubeconfigs; None: where temporary files are
    record: Path | None = None  # append one JSON line for each request: verb, group, resource


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """What the outside may ask: metrics, probes, and the metrics that roles set."""

    bind: str = ":8443"  # `0` disables
    is_secure: bool = False
    requires_rbac: bool = False
    probe_bind: str = ":6789"
    role_metrics_port: int = 5050  # 0: any free one


@dataclass(frozen=True, slots=True)
class ElectionSettings:
    is_on: bool = False
    id: str = ""
    namespace: str = ""
    lease_s: float = 15.0
    renew_deadline_s: float = 10.0  # not renewed for so long: write nothing until it is
    retry_s: float = 2.0


@dataclass(frozen=True, slots=True)
class LogSettings:
    is_json: bool = False
    level: str = "info"  # debug, info, error, panic
    detail: int = 0  # the Go operator's V(n): from 2 on, libraries may log at debug level too
    stacktrace_level: str = "error"  # tracebacks are shown from this level on
    time_encoding: str = "rfc3339"  # of `ts` in JSON lines
    ansible_events: str = "tasks"  # nothing, tasks, everything
    is_dev: bool = False  # a line for each task, short lines of our own
    play_verbosity: int = 0  # ANSIBLE_VERBOSITY: how the play log prints tasks


@dataclass(frozen=True, slots=True)
class Settings:
    watches_file: Path = Path("watches.yaml")
    namespace: str = "default"  # of the operator's own Service, Secret and ConfigMaps
    is_in_pod: bool = False
    watches: WatchSettings = field(default_factory=WatchSettings)
    queue: QueueSettings = field(default_factory=QueueSettings)
    runner: RunnerSettings = field(default_factory=RunnerSettings)
    reactor: ReactorSettings = field(default_factory=ReactorSettings)
    proxy: ProxySettings = field(default_factory=ProxySettings)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)
    election: ElectionSettings = field(default_factory=ElectionSettings)
    logs: LogSettings = field(default_factory=LogSettings)
    graceful_shutdown_s: float = 30.0
    # Where to write the ports that were really bound, as JSON; for tests that ask for port 0.
    ports_file: Path | None = None
    # Debug: report every time that the event loop was held for longer; None: do not look.
    loop_limit_s: float | None = None
    of_extensions: tuple[ExtensionFlags, ...] = ()

    def extension(self, flags: type[_Flags]) -> _Flags:
        """What was chosen for an extension, else its defaults."""
        chosen = (each for each in self.of_extensions if isinstance(each, flags))
        return next(chosen, None) or flags()

    @property
    def division(self) -> str:
        """How an extension lets replicas divide the CRs, as its `division` says; empty: none does."""
        return next((each.division for each in self.of_extensions if each.division), "")
