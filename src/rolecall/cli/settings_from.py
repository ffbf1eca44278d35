"""From chosen flags and the environment to `Settings`; the Go operator's variables are read here.

Nothing else in the engine looks at the environment, so this file is the whole list of what it means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rolecall.cli.flag_parser import parse_truth
from rolecall.errors import InputError
from rolecall.settings import (
    Chosen,
    ElectionSettings,
    LogSettings,
    MetricsSettings,
    ProxySettings,
    QueueSettings,
    ReactorSettings,
    RunnerSettings,
    Settings,
    WatchSettings,
    extension_flags,
)
from rolecall.watches import skips_facts

POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_LEVELS = ("debug", "info", "error", "panic")
_EVENTS = ("nothing", "tasks", "everything")
_RETRY_S = 2.0
_FREE_PORTS = {
    "proxy-port": 0,
    "role-metrics-port": 0,
    "metrics-bind-address": "127.0.0.1:0",
    "health-probe-bind-address": "127.0.0.1:0",
    "webhook-bind-address": ":0",
}


def settings_from(
    chosen: Chosen, environment: Mapping[str, str], pod_namespace: Path = POD_NAMESPACE
) -> tuple[Settings, list[str]]:
    """Build the settings; the second value are warnings for the user."""
    warnings = list(chosen.warnings)
    is_in_pod = pod_namespace.is_file()
    if chosen["dev"] and not is_in_pod:
        chosen = with_free_ports(chosen)
    verbosity = _asked_verbosity(environment, warnings)
    of_extensions = tuple(flags.read(chosen) for flags in extension_flags())
    division = next((each.division for each in of_extensions if each.division), "")
    election = _election(chosen, environment, pod_namespace, division, warnings)
    namespace = _namespace_of_pod(pod_namespace) if is_in_pod else ""
    settings = Settings(
        watches_file=Path(chosen["watches-file"]),
        namespace=namespace or chosen["leader-election-namespace"] or "default",
        is_in_pod=is_in_pod,
        watches=_watches(chosen, verbosity),
        queue=QueueSettings(
            max_runs=chosen["max-runs"] or None,
            max_waiting=_not_below_zero(chosen["max-waiting"]),
            dependents_delay_s=chosen["dependents-delay"],
        ),
        runner=_runner(chosen, environment, warnings),
        reactor=ReactorSettings(namespaces=_namespaces(environment.get("WATCH_NAMESPACE", ""))),
        proxy=_proxy(chosen, warnings),
        metrics=_metrics(chosen),
        election=election,
        logs=_logs(chosen, verbosity or 0, warnings),
        graceful_shutdown_s=chosen["graceful-shutdown-timeout"],
        ports_file=_path(chosen["ports-file"]),
        loop_limit_s=chosen["loop-limit"] or None,
        of_extensions=of_extensions,
    )
    return settings, warnings


def with_free_ports(chosen: Chosen) -> Chosen:
    """Any free port for each listener that was not set, so that several operators run side by side."""
    free = {name: port for name, port in _FREE_PORTS.items() if not chosen.is_set(name)}
    if chosen.is_set("webhook-url"):  # which names the port
        free.pop("webhook-bind-address", None)
    return replace(chosen, values={**chosen.values, **free})


def _not_below_zero(number: int | None) -> int | None:
    return None if number is None else max(0, number)


def _watches(chosen: Chosen, asked_verbosity: int | None) -> WatchSettings:
    most = chosen["max-concurrent-reconciles"]
    verbosity: int = chosen["ansible-verbosity"]
    if asked_verbosity is not None and not chosen.is_set("ansible-verbosity"):
        verbosity = max(0, asked_verbosity)  # instead of being added to our default
    return WatchSettings(
        reconcile_period_s=chosen["reconcile-period"],
        max_concurrent_reconciles=None if most is None else max(1, most),
        verbosity=verbosity,
    )


def _runner(chosen: Chosen, environment: Mapping[str, str], warnings: list[str]) -> RunnerSettings:
    if chosen["trust-cr-text"]:
        warnings.append(
            "--trust-cr-text: Ansible templates text from CRs, so anyone who can write a CR can execute"
            " code in this operator"
        )
    inventory = environment.get("ANSIBLE_INVENTORY", "")
    return RunnerSettings(
        root=Path(chosen["artifacts-dir"]),
        way=chosen["runner"],
        ansible_args=chosen["ansible-args"] or "",
        inventory=_path(inventory),
        skip_facts=skips_facts(environment, Path(chosen["watches-file"]).parent),
        trust_cr_text=chosen["trust-cr-text"],
        timeout_s=chosen["run-timeout"] or None,
        no_progress_timeout_s=chosen["no-progress-timeout"] or None,
        keep_days=chosen["keep-days"] or None,
        keep_bytes=chosen["keep-bytes"] or None,
        keep_total_bytes=chosen["keep-total-bytes"] or None,
        roles_path=chosen["ansible-roles-path"] or "",
        collections_path=chosen["ansible-collections-path"] or "",
        debug_logs=_debug_logs(environment, warnings),
        warm_idle_s=chosen["warm-idle"] or None,
    )


def _debug_logs(environment: Mapping[str, str], warnings: list[str]) -> bool:
    text = environment.get("ANSIBLE_DEBUG_LOGS", "")
    if not text:
        return False
    try:
        return parse_truth(text)
    except ValueError:
        warnings.append(f"ANSIBLE_DEBUG_LOGS: `{text}` is not true or false; took it for false")
        return False


def _namespaces(text: str) -> tuple[str, ...]:
    """The namespaces of WATCH_NAMESPACE; none means all."""
    names = (name.strip() for name in text.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def _proxy(chosen: Chosen, warnings: list[str]) -> ProxySettings:
    if not chosen["inject-owner-ref"]:
        warnings.append(
            "--inject-owner-ref=false: objects that plays create get no owner and are not watched"
        )
    return ProxySettings(
        port=_port(chosen, "proxy-port"),
        inject_owner=chosen["inject-owner-ref"],
        allows_impersonation=chosen["allow-impersonation"],
        adopts=chosen["adopt"],
        record=_path(chosen["proxy-record"]),
    )


def _metrics(chosen: Chosen) -> MetricsSettings:
    if chosen["metrics-require-rbac"] and not chosen["metrics-secure"]:
        raise InputError(
            "`--metrics-require-rbac` was set without `--metrics-secure`, so tokens would be sent"
            " without encryption",
            hint="add --metrics-secure",
        )
    return MetricsSettings(
        bind=chosen["metrics-bind-address"],
        is_secure=chosen["metrics-secure"],
        requires_rbac=chosen["metrics-require-rbac"],
        probe_bind=chosen["health-probe-bind-address"],
        role_metrics_port=_port(chosen, "role-metrics-port"),
    )


def _election(
    chosen: Chosen,
    environment: Mapping[str, str],
    pod_namespace: Path,
    division: str,
    warnings: list[str],
) -> ElectionSettings:
    lease_id = chosen["leader-election-id"] or ""
    if (old := environment.get("OPERATOR_NAME")) and not chosen.is_set("leader-election-id"):
        warnings.append("OPERATOR_NAME is deprecated; use --leader-election-id")
        lease_id = old
    namespace = chosen["leader-election-namespace"] or ""
    if chosen["leader-elect"] or division:
        way = division.partition("/")[0]
        asked = f"`--{way}`" if way else "leader election"
        if not lease_id:
            raise InputError(
                f"{asked} was asked for, but the Lease has no name",
                hint="add --leader-election-id",
            )
        namespace = namespace or _namespace_of_pod(pod_namespace, asked)
    lease_s = chosen["leader-elect-lease-duration"]
    renew_s = chosen["leader-elect-renew-deadline"]
    _check_election_times(lease_s, renew_s)
    return ElectionSettings(
        is_on=chosen["leader-elect"],
        id=lease_id,
        namespace=namespace,
        lease_s=lease_s,
        renew_deadline_s=renew_s,
        retry_s=_RETRY_S,
    )


def _check_election_times(lease_s: float, renew_s: float) -> None:
    if lease_s <= renew_s:
        raise InputError(
            f"`--leader-elect-lease-duration` ({lease_s:g}s) was not longer than"
            f" `--leader-elect-renew-deadline` ({renew_s:g}s): two replicas could write at the"
            " same time"
        )
    if renew_s <= _RETRY_S * 1.2:
        raise InputError(
            f"`--leader-elect-renew-deadline` ({renew_s:g}s) is too short to try again; a renewal is"
            f" tried every {_RETRY_S:g}s"
        )


def _namespace_of_pod(file: Path, asked: str = "") -> str:
    try:
        return file.read_text().strip()
    except OSError:
        raise InputError(
            f"{asked} needs a namespace for its Lease, and this process does not run in a pod",
            hint="add --leader-election-namespace",
        ) from None


def _logs(chosen: Chosen, play_verbosity: int, warnings: list[str]) -> LogSettings:
    level, detail = _log_level(chosen["zap-log-level"], chosen["zap-devel"], chosen)
    events = str(chosen["ansible-log-events"]).lower()
    if events not in _EVENTS:
        warnings.append(f"--ansible-log-events: `{events}` is none of {', '.join(_EVENTS)}")
        events = "tasks"
    return LogSettings(
        is_json=_is_json(chosen),
        level=level,
        detail=detail,
        stacktrace_level=chosen["zap-stacktrace-level"],
        time_encoding=chosen["zap-time-encoding"],
        ansible_events=events,
        is_dev=_is_dev(chosen),
        play_verbosity=play_verbosity,
    )


def _is_dev(chosen: Chosen) -> bool:
    if chosen["dev"] and _is_json(chosen):
        raise InputError("`--dev` prints lines for people, and a log in JSON was asked for as well")
    return bool(chosen["dev"])


def _is_json(chosen: Chosen) -> bool:
    encoder = {"json": True, "console": False}.get(chosen["zap-encoder"] or "")
    ours = chosen["log-format"] == "json"
    if chosen.is_set("log-format") and encoder is not None and ours != encoder:
        raise InputError("`--log-format` and `--zap-encoder` ask for different formats")
    return ours if encoder is None else encoder


def _log_level(text: str, is_devel: bool, chosen: Chosen) -> tuple[str, int]:
    if is_devel and not chosen.is_set("zap-log-level"):
        return "debug", 1
    if text.isdecimal() and int(text) > 0:
        return "debug", int(text)
    if text.lower() in _LEVELS:
        return text.lower(), 1 if text.lower() == "debug" else 0
    raise InputError(
        f"--zap-log-level: `{text}` is none of {', '.join(_LEVELS)}, and no number above 0"
    )


def _asked_verbosity(environment: Mapping[str, str], warnings: list[str]) -> int | None:
    """What ANSIBLE_VERBOSITY asks for; None where it asks for nothing."""
    text = environment.get("ANSIBLE_VERBOSITY", "")
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        warnings.append(f"ANSIBLE_VERBOSITY: `{text}` is not a whole number, so it was ignored")
        return None


def _port(chosen: Chosen, name: str) -> int:
    port = int(chosen[name])
    if not 0 <= port <= 65535:
        raise InputError(f"--{name}: `{port}` is not a port")
    return port


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None
