"""Names and labels that dashboards of the Go operator match on."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.metrics import MASTER_STATUS, EngineMetrics
from rolecall.watches import Play, Watch
from rolecall.workqueue import Key, QueueSnapshot, Urgency, Waits

APP = Gvk("demo.example.com", "v1", "App")
LABEL = 'GVK="demo.example.com/v1, Kind=App"'


@pytest.fixture
def metrics() -> EngineMetrics:
    return EngineMetrics("1.2", commit="abc", api_host="api:6443")


def samples(metrics: EngineMetrics) -> dict[str, str]:
    metrics.refresh()
    lines = metrics.exposition().decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


def test_build_info_is_one(metrics: EngineMetrics) -> None:
    assert samples(metrics)['ansible_operator_build_info{commit="abc",version="1.2"}'] == "1.0"


def test_result_is_a_gauge_that_counts(metrics: EngineMetrics) -> None:
    for succeeded in (True, True, False):
        metrics.run_finished(APP, succeeded=succeeded, seconds=1.0, way="stock")
    found = samples(metrics)
    name = "ansible_operator_reconcile_result"
    assert found[f'{name}{{{LABEL},result="succeeded"}}'] == "2.0"
    assert found[f'{name}{{{LABEL},result="failed"}}'] == "1.0"
    assert f"# TYPE {name} gauge" in metrics.exposition().decode()


def test_reconciles_measures_the_whole_run(metrics: EngineMetrics) -> None:
    metrics.run_finished(APP, succeeded=True, seconds=3.0, way="warm")
    found = samples(metrics)
    assert found[f"ansible_operator_reconciles_sum{{{LABEL}}}"] == "3.0"
    assert found[f'ansible_operator_reconciles_bucket{{{LABEL},le="2.5"}}'] == "0.0"
    assert found[f'ansible_operator_reconciles_bucket{{{LABEL},le="5.0"}}'] == "1.0"


def test_creation_time_goes_with_its_cr(metrics: EngineMetrics) -> None:
    key = Key(APP, "ns", "x")
    labels = 'group="demo.example.com",kind="App",name="x",namespace="ns",version="v1"'
    metrics.seen(key, datetime.fromtimestamp(1.7e9, UTC))
    assert samples(metrics)[f"resource_created_at_seconds{{{labels}}}"] == "1.7e+09"
    metrics.gone(key)
    assert not any(name.startswith("resource_created") for name in samples(metrics))


def test_conditions_say_how_a_cr_is_and_go_with_it(metrics: EngineMetrics) -> None:
    key = Key(APP, "ns", "x")
    place = 'group="demo.example.com",kind="App",name="x",namespace="ns"'
    metrics.seen(key, datetime.fromtimestamp(1.7e9, UTC))
    for status, reason, value in (
        ("Unknown", "RunPending", "-1.0"),
        ("False", "NoQuorum", "0.0"),
        ("True", "Healthy", "1.0"),
    ):
        run = {"type": "Running", "status": "True", "reason": "Running"}
        metrics.conditions(key, [run, {"type": "Ready", "status": status, "reason": reason}])
        reported = {
            name: value for name, value in samples(metrics).items() if "_condition{" in name
        }
        series = (
            f'rolecall_resource_condition{{{place},reason="{reason}",type="Ready",version="v1"}}'
        )
        assert reported == {series: value}
    metrics.gone(key)
    metrics.conditions(key, [{"type": "Ready", "status": "True"}])  # its last run ended after it
    assert not any("_condition{" in name for name in samples(metrics))


def test_status_of_others_cannot_fill_prometheus(metrics: EngineMetrics) -> None:
    key = Key(APP, "ns", "x")
    metrics.seen(key, datetime.fromtimestamp(1.7e9, UTC))
    hostile = [
        {"type": f"T{number}", "status": "True", "reason": "x" * 999} for number in range(99)
    ]
    strange = ["text", None, {"type": ["Ready"]}, {"type": "two words"}, {"status": "True"}]
    metrics.conditions(key, [*strange, *hostile[:1], *hostile])
    reported = [name for name in samples(metrics) if "_condition{" in name]
    assert len(reported) == 8
    assert all('reason=""' in name for name in reported)


def test_series_of_a_kind_exist_before_its_first_turn(metrics: EngineMetrics) -> None:
    metrics.prepare([Watch(APP, Play(Path("x"), True), max_concurrent_reconciles=3)])
    found = samples(metrics)
    controller = 'controller="app-v1-controller"'
    assert found[f'controller_runtime_reconcile_total{{{controller},result="success"}}'] == "0.0"
    assert found[f"controller_runtime_reconcile_errors_total{{{controller}}}"] == "0.0"
    assert found[f"controller_runtime_max_concurrent_reconciles{{{controller}}}"] == "3.0"


def test_error_counts_twice_as_turn_and_as_error(metrics: EngineMetrics) -> None:
    metrics.reconcile_finished(APP, "error", 0.1)
    found = samples(metrics)
    controller = 'controller="app-v1-controller"'
    assert found[f'controller_runtime_reconcile_total{{{controller},result="error"}}'] == "1.0"
    assert found[f"controller_runtime_reconcile_errors_total{{{controller}}}"] == "1.0"


def test_queue_is_read_at_the_scrape(metrics: EngineMetrics) -> None:
    def snapshot() -> QueueSnapshot:
        return QueueSnapshot(
            depth={APP: {Urgency.EDIT: 2, Urgency.PERIOD: 3}},
            in_hand={APP: 4},
            waiting={APP: 3},
            oldest_age_s={Urgency.EDIT: 0.5},
            waits={urgency: Waits(4, 8.0) for urgency in Urgency},
            delayed=6,
            backing_off=7,
            max_runs=8,
            max_waiting=9,
        )

    metrics.read_queue(snapshot, [APP])
    found = samples(metrics)
    controller = 'controller="app-v1-controller"'
    assert found[f'workqueue_depth{{{controller},name="app-v1-controller"}}'] == "5.0"
    assert found[f"controller_runtime_active_workers{{{controller}}}"] == "4.0"
    assert found[f'rolecall_waiting_runs{{GVK="{APP}"}}'] == "3.0"
    assert found['rolecall_queue_depth{urgency="edit"}'] == "2.0"
    assert found['rolecall_queue_oldest_seconds{urgency="edit"}'] == "0.5"
    assert found["rolecall_queue_age_seconds"] == "0.5"
    assert found['rolecall_queue_wait_seconds_sum{urgency="edit"}'] == "8.0"
    assert found["rolecall_queue_delayed"] == "6.0"
    assert found["rolecall_queue_backing_off"] == "7.0"
    assert found["rolecall_max_runs"] == "8.0"
    assert found["rolecall_max_waiting"] == "9.0"


def test_own_api_calls_are_counted_as_the_go_client_counts(metrics: EngineMetrics) -> None:
    metrics.api_call("patch", "apps.demo.example.com/status", 200, 0.002)
    metrics.api_call("list", "apps.demo.example.com", 0, 0.002)
    found = samples(metrics)
    name = "rest_client_requests_total"
    assert found[f'{name}{{code="200",host="api:6443",method="PATCH"}}'] == "1.0"
    assert found[f'{name}{{code="<error>",host="api:6443",method="GET"}}'] == "1.0"


def test_no_series_reports_when_another_series_was_created(metrics: EngineMetrics) -> None:
    metrics.reconcile_finished(APP, "success", 0.1)
    assert not any("_created" in name for name in samples(metrics))


def test_figures_may_be_refreshed_before_each_scrape(metrics: EngineMetrics) -> None:
    leads = [True, False]
    metrics.before_scrape(lambda: metrics.of(MASTER_STATUS, name="app").set(leads.pop(0)))
    assert samples(metrics)['leader_election_master_status{name="app"}'] == "1.0"
    assert samples(metrics)['leader_election_master_status{name="app"}'] == "0.0"
