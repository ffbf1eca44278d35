"""Every flag of `rolecall run` arrives in its field of `Settings`, and in no other one.

A flag without a row fails the test. The fields of a row are all that differs from the defaults, so a
flag that is connected to nothing, or to the wrong field, fails too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rolecall.cli.flag_parser import choose
from rolecall.cli.settings_from import settings_from
from rolecall.settings import Settings, flags_of_run

FLAGS = flags_of_run()

_LEASE = ("--leader-election-id=some", "--leader-election-namespace=where")
_SHARDS = ("--shards=8", *_LEASE)
_LOCAL_PAGE = {"PageFlags.bind": "127.0.0.1:0", "PageFlags.access": "local"}
_FREE_PORTS = {
    "proxy.port": 0,
    "metrics.bind": "127.0.0.1:0",
    "metrics.probe_bind": "127.0.0.1:0",
    "metrics.role_metrics_port": 0,
    "VersionFlags.bind": ":0",
}
_ELECT = ("--leader-elect", *_LEASE)


@dataclass(frozen=True)
class Row:
    """What is typed, and each field of the settings that it changes."""

    value: str
    changes: Mapping[str, Any]
    beside: tuple[str, ...] = ()  # flags without which this one is refused or has no effect


ROWS: dict[str, Row] = {
    "watches-file": Row("other.yaml", {"watches_file": Path("other.yaml")}),
    "reconcile-period": Row("7m", {"watches.reconcile_period_s": 420.0}),
    "max-concurrent-reconciles": Row("7", {"watches.max_concurrent_reconciles": 7}),
    "max-runs": Row("7", {"queue.max_runs": 7}),
    "max-waiting": Row("7", {"queue.max_waiting": 7}),
    "dependents-delay": Row("7s", {"queue.dependents_delay_s": 7.0}),
    "migrate-storage": Row("true", {"VersionFlags.migrates_storage": True}),
    "runner": Row("stock", {"runner.way": "stock"}),
    "ansible-args": Row("--diff", {"runner.ansible_args": "--diff"}),
    "ansible-verbosity": Row("4", {"watches.verbosity": 4}),
    "ansible-roles-path": Row("/a:/b", {"runner.roles_path": "/a:/b"}),
    "ansible-collections-path": Row("/c:/d", {"runner.collections_path": "/c:/d"}),
    "run-timeout": Row("7m", {"runner.timeout_s": 420.0}),
    "no-progress-timeout": Row("7m", {"runner.no_progress_timeout_s": 420.0}),
    "trust-cr-text": Row("true", {"runner.trust_cr_text": True}),
    "artifacts-dir": Row("/runs", {"runner.root": Path("/runs")}),
    "keep-days": Row("1.5", {"runner.keep_days": 1.5}),
    "keep-bytes": Row("50Mi", {"runner.keep_bytes": 50 * 1024 * 1024}),
    "keep-total-bytes": Row("5Gi", {"runner.keep_total_bytes": 5 * 1024**3}),
    "warm-idle": Row("7m", {"runner.warm_idle_s": 420.0}),
    "proxy-port": Row("7001", {"proxy.port": 7001}),
    "allow-impersonation": Row("true", {"proxy.allows_impersonation": True}),
    "inject-owner-ref": Row("false", {"proxy.inject_owner": False}),
    "adopt": Row("true", {"proxy.adopts": True}),
    "proxy-record": Row("/requests", {"proxy.record": Path("/requests")}),
    "run-record": Row("false", {"RecordFlags.is_on": False}),
    "metrics-bind-address": Row(":7002", {"metrics.bind": ":7002"}),
    "metrics-secure": Row("true", {"metrics.is_secure": True}),
    "metrics-require-rbac": Row("true", {"metrics.requires_rbac": True}, ("--metrics-secure",)),
    "health-probe-bind-address": Row(":7003", {"metrics.probe_bind": ":7003"}),
    "role-metrics-port": Row("7004", {"metrics.role_metrics_port": 7004}),
    "webhook-bind-address": Row(":7005", {"VersionFlags.bind": ":7005"}),
    "webhook-cert-path": Row("/hooks", {"VersionFlags.folder": Path("/hooks")}),
    "webhook-client-ca": Row("/ca.pem", {"VersionFlags.client_ca": Path("/ca.pem")}),
    "webhook-service": Row("hooks", {"VersionFlags.service": "hooks"}),
    "webhook-url": Row("https://hooks/", {"VersionFlags.url": "https://hooks"}),
    "max-admission-runs": Row("7", {"VersionFlags.max_admission_runs": 7}),
    "webhook-period": Row("7m", {"VersionFlags.period_s": 420.0}),
    "page-bind-address": Row(":7006", {"PageFlags.bind": ":7006"}),
    "page-access": Row("local", {"PageFlags.access": "local"}),
    "page-cert-path": Row("/page", {"PageFlags.certificates": Path("/page")}),
    "leader-elect": Row("true", {"election.is_on": True}, _LEASE),
    "shards": Row("7", {"ShardFlags.count": 7}, _SHARDS),
    "leader-election-id": Row("id", {"election.id": "id"}, _ELECT),
    "leader-election-namespace": Row("ns", {"election.namespace": "ns", "namespace": "ns"}, _ELECT),
    "leader-elect-lease-duration": Row("70s", {"election.lease_s": 70.0}, _ELECT),
    "leader-elect-renew-deadline": Row("7s", {"election.renew_deadline_s": 7.0}, _ELECT),
    "handlers-memory": Row("1Gi", {"HandlerFlags.memory_bytes": 1024**3}),
    "handlers-timeout": Row("7m", {"HandlerFlags.timeout_s": 420.0}),
    "dev": Row("true", {"logs.is_dev": True, **_LOCAL_PAGE, **_FREE_PORTS}),
    "log-format": Row("json", {"logs.is_json": True}),
    "ansible-log-events": Row("nothing", {"logs.ansible_events": "nothing"}),
    "zap-log-level": Row("panic", {"logs.level": "panic"}),
    "zap-encoder": Row("json", {"logs.is_json": True}),
    "zap-devel": Row("true", {"logs.level": "debug", "logs.detail": 1}),
    "zap-stacktrace-level": Row("panic", {"logs.stacktrace_level": "panic"}),
    "zap-time-encoding": Row("nano", {"logs.time_encoding": "nano"}),
    "graceful-shutdown-timeout": Row("7s", {"graceful_shutdown_s": 7.0}),
    "ports-file": Row("/ports", {"ports_file": Path("/ports")}),
    "loop-limit": Row("7ms", {"loop_limit_s": 0.007}),
}
# What names and times Leases does so for those of --shards, too.
OF_LEASES = (
    "leader-election-id",
    "leader-election-namespace",
    "leader-elect-lease-duration",
    "leader-elect-renew-deadline",
)
ALIASES = {name: flag.alias_of for name, flag in FLAGS.items() if flag.alias_of}
IGNORED = {name for name, flag in FLAGS.items() if flag.is_ignored}
# Not a setting: `rolecall run` itself acts on it; see `test_run.py`.
ELSEWHERE = {"validate"}


def test_every_flag_of_run_has_a_row() -> None:
    assert sorted(FLAGS) == sorted({*ROWS, *ALIASES, *IGNORED, *ELSEWHERE})


@pytest.mark.parametrize("name", ROWS)
def test_flag_changes_its_fields_and_no_other(name: str) -> None:
    assert changed_by(name, ROWS[name]) == dict(ROWS[name].changes)


@pytest.mark.parametrize("name", OF_LEASES)
def test_flag_of_leases_is_one_of_shards_too(name: str) -> None:
    row = replace(ROWS[name], beside=_SHARDS)
    assert changed_by(name, row) == dict(row.changes)


@pytest.mark.parametrize("name", ROWS)
def test_variable_of_a_flag_does_what_the_flag_does(name: str) -> None:
    row = ROWS[name]
    environment = {FLAGS[name].variable: row.value}
    beside = [word for word in row.beside if word.partition("=")[0] != f"--{name}"]
    typed = flat(settled(*beside, f"--{name}={row.value}"))
    assert flat(settled(*beside, environment=environment)) == typed


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_deprecated_name_does_what_the_new_one_does(alias: str, name: str) -> None:
    row = ROWS[name]
    old = settled(*row.beside, f"--{alias}={row.value}")
    assert old == settled(*row.beside, f"--{name}={row.value}")
    assert old != settled(*row.beside)


@pytest.mark.parametrize("name", sorted(IGNORED))
def test_ignored_flag_changes_nothing(name: str) -> None:
    value = "true" if name == "enable-http2" else "leases"
    assert settled(f"--{name}={value}") == settled()


def test_defaults_of_flags_are_those_of_the_settings() -> None:
    settings = settled()
    assert replace(settings, of_extensions=()) == Settings()
    assert [type(each)() for each in settings.of_extensions] == list(settings.of_extensions)


def changed_by(name: str, row: Row) -> dict[str, Any]:
    """Each field that the flag changes, as a path, with its new value."""
    before = flat(settled(*row.beside))
    after = flat(settled(*row.beside, f"--{name}={row.value}"))
    return {path: after[path] for path in after if after[path] != before[path]}


def settled(*words: str, environment: Mapping[str, str] | None = None) -> Settings:
    chosen = choose(words, environment or {})
    return settings_from(chosen, environment or {}, Path("/nonexistent"))[0]


def flat(settings: object, prefix: str = "") -> dict[str, Any]:
    """Every field below, by its path."""
    found: dict[str, Any] = {}
    for field in fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, field.name)
        if field.name == "of_extensions":
            for each in value:
                found |= flat(each, f"{type(each).__name__}.")
        elif is_dataclass(value):
            found |= flat(value, f"{prefix}{field.name}.")
        else:
            found[f"{prefix}{field.name}"] = value
    return found
