"""From flags and environment to settings: the contract's own variables and rules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rolecall.cli.flag_parser import choose
from rolecall.cli.settings_from import settings_from
from rolecall.errors import InputError
from rolecall.extensions.versions.flags import VersionFlags
from rolecall.settings import Settings


def settled(*words: str, **environment: str) -> tuple[Settings, list[str]]:
    return settings_from(choose(words, environment), environment, Path("/nonexistent"))


def test_nothing_said_means_the_go_operators_defaults() -> None:
    settings, warnings = settled()
    assert replace(settings, of_extensions=()) == Settings()
    assert warnings == []


@pytest.mark.parametrize(
    ("text", "namespaces"),
    [
        ("", ()),
        (",,", ()),
        ("a", ("a",)),
        (" a , ,b,a ", ("a", "b")),
    ],
)
def test_watch_namespace_is_a_comma_list(text: str, namespaces: tuple[str, ...]) -> None:
    assert settled(WATCH_NAMESPACE=text)[0].reactor.namespaces == namespaces


@pytest.mark.parametrize(
    ("words", "is_json"),
    [
        ((), False),
        (("--log-format=json",), True),
        (("--zap-encoder=json",), True),
        (("--zap-encoder=console",), False),
    ],
)
def test_logs_are_for_people_unless_json_is_asked_for(
    words: tuple[str, ...], is_json: bool
) -> None:
    assert settled(*words)[0].logs.is_json is is_json


@pytest.mark.parametrize(
    ("words", "level", "detail"),
    [
        (("--zap-log-level=debug",), "debug", 1),
        (("--zap-log-level=2",), "debug", 2),
        (("--zap-log-level=error",), "error", 0),
        (("--zap-devel",), "debug", 1),
        (("--zap-devel", "--zap-log-level=info"), "info", 0),
    ],
)
def test_log_level_is_a_name_or_a_number(words: tuple[str, ...], level: str, detail: int) -> None:
    logs = settled(*words)[0].logs
    assert (logs.level, logs.detail) == (level, detail)


def test_operator_name_is_the_lease_unless_one_was_given() -> None:
    wanted = ("--leader-elect", "--leader-election-namespace=n")
    assert settled(*wanted, OPERATOR_NAME="old")[0].election.id == "old"
    given = settled(*wanted, "--leader-election-id=new", OPERATOR_NAME="old")[0]
    assert given.election.id == "new"


def test_namespace_of_the_lease_is_that_of_the_pod(tmp_path: Path) -> None:
    (tmp_path / "namespace").write_text("here\n")
    words = ("--leader-elect", "--leader-election-id=x")
    settings, _ = settings_from(choose(words, {}), {}, tmp_path / "namespace")
    assert settings.election.namespace == "here"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--leader-elect",), "the Lease has no name"),
        (("--leader-elect", "--leader-election-id=x"), "does not run in a pod"),
        (("--metrics-require-rbac",), "without `--metrics-secure`"),
        (("--log-format=people", "--zap-encoder=json"), "different formats"),
        (("--zap-log-level=loud",), "`loud` is none of"),
        (("--zap-log-level=0",), "`0` is none of"),
        (("--proxy-port=70000",), "`70000` is not a port"),
        (("--leader-elect-lease-duration=10s",), "two replicas could write at the same time"),
        (("--leader-elect-renew-deadline=2s",), "is too short to try again"),
    ],
)
def test_settings_that_cannot_work_are_refused(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError) as caught:
        settled(*words)
    assert message in str(caught.value)


def test_unknown_log_events_are_reported_and_taken_for_tasks() -> None:
    settings, warnings = settled("--ansible-log-events=Loud")
    assert settings.logs.ansible_events == "tasks"
    assert "`loud` is none of nothing, tasks, everything" in warnings[0]


def test_log_events_do_not_care_for_case() -> None:
    assert settled("--ansible-log-events=Everything")[0].logs.ansible_events == "everything"


@pytest.mark.parametrize(
    ("text", "value"), [("TRUE", True), ("t", True), ("0", False), ("x", False)]
)
def test_debug_logs_is_a_go_boolean(text: str, value: bool) -> None:
    settings, warnings = settled(ANSIBLE_DEBUG_LOGS=text)
    assert settings.runner.debug_logs is value
    assert bool(warnings) == (text == "x")


def test_concurrency_below_one_ends_up_as_one() -> None:
    assert settled("--max-concurrent-reconciles=-4")[0].watches.max_concurrent_reconciles == 1


@pytest.mark.parametrize(
    ("words", "most"),
    [((), None), (("--max-waiting=0",), 0), (("--max-waiting=-1",), 0), (("--max-waiting=9",), 9)],
)
def test_number_of_runs_that_may_wait_follows_from_memory_unless_it_is_set(
    words: tuple[str, ...], most: int | None
) -> None:
    assert settled(*words)[0].queue.max_waiting == most


def test_trusting_cr_text_names_the_risk() -> None:
    assert "can execute code in this operator" in settled("--trust-cr-text")[1][0]


@pytest.mark.parametrize(
    ("words", "environment", "plays", "prints"),
    [
        ((), {}, 2, 0),
        ((), {"ANSIBLE_VERBOSITY": "1"}, 1, 1),
        ((), {"ANSIBLE_VERBOSITY": "0"}, 0, 0),
        (("--ansible-verbosity=3",), {"ANSIBLE_VERBOSITY": "1"}, 3, 1),
        ((), {"ROLECALL_ANSIBLE_VERBOSITY": "3", "ANSIBLE_VERBOSITY": "1"}, 3, 1),
    ],
)
def test_verbosity_of_the_environment_is_not_added_to_our_default(
    words: tuple[str, ...], environment: dict[str, str], plays: int, prints: int
) -> None:
    settings, warnings = settled(*words, **environment)
    assert (settings.watches.verbosity, settings.logs.play_verbosity) == (plays, prints)
    assert warnings == []


def test_verbosity_that_is_not_a_number_is_ignored_and_reported() -> None:
    settings, warnings = settled(ANSIBLE_VERBOSITY="much")
    assert replace(settings, of_extensions=()) == Settings()
    assert warnings == ["ANSIBLE_VERBOSITY: `much` is not a whole number, so it was ignored"]


def test_two_operators_in_dev_mode_need_no_flags_for_their_ports() -> None:
    settings, _ = settled("--dev")
    metrics = settings.metrics
    assert (settings.proxy.port, metrics.role_metrics_port) == (0, 0)
    assert (metrics.bind, metrics.probe_bind) == ("127.0.0.1:0", "127.0.0.1:0")


def test_port_that_was_set_stays_in_dev_mode() -> None:
    settings, _ = settled("--dev", "--proxy-port=7001", ROLECALL_METRICS_BIND_ADDRESS=":7002")
    assert (settings.proxy.port, settings.metrics.bind) == (7001, ":7002")


def test_webhooks_keep_their_port_in_dev_mode_where_a_url_names_it() -> None:
    settings, _ = settled("--dev", "--webhook-url=https://here:9443")
    assert settings.extension(VersionFlags).bind == ":9443"


def test_ports_in_a_pod_stay_in_dev_mode(tmp_path: Path) -> None:
    (tmp_path / "namespace").write_text("default")
    settings, _ = settings_from(choose(("--dev",), {}), {}, tmp_path / "namespace")
    assert settings.metrics.probe_bind == ":6789"


def test_ansible_cfg_beside_watches_says_whether_facts_are_gathered(tmp_path: Path) -> None:
    (tmp_path / "ansible.cfg").write_text("[defaults]\ngathering = explicit\n")
    words = ("--watches-file", str(tmp_path / "watches.yaml"))
    assert settled(*words)[0].runner.skip_facts
    assert not settled(*words, ANSIBLE_GATHERING="smart")[0].runner.skip_facts
    (tmp_path / "ansible.cfg").unlink()
    assert not settled(*words)[0].runner.skip_facts
