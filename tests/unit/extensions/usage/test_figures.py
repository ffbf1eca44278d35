"""What runs cost, by namespace and kind, in a bounded number of series."""

from __future__ import annotations

from rolecall.extensions.usage import Usage
from rolecall.extensions.usage.figures import METRICS, MOST_PAIRS, OTHERS, UsageFigures
from rolecall.gvk import Gvk
from rolecall.metrics import EngineMetrics
from rolecall.workqueue import Key

APP = Gvk("demo.example.com", "v1", "App")


def samples(figures: UsageFigures) -> dict[str, str]:
    metrics = EngineMetrics("1.2", more=METRICS)
    figures.show_in(metrics)
    lines = metrics.exposition().decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


def test_runs_of_all_crs_of_a_namespace_are_one_series() -> None:
    figures = UsageFigures()
    for name in ("x", "y"):
        figures.used(Key(APP, "a", name), Usage(1, 0, 2.0, 0.5, 7, 3))
    figures.used(Key(APP, "a", "y"), Usage(1, 1, 2.0, 0.5, 7, None))
    figures.used(Key(APP, "a", "x"), Usage(owned=0))
    labels = '{kind="App",namespace="a"}'
    found = {name: value for name, value in samples(figures).items() if name.endswith(labels)}
    assert found == {
        f"rolecall_used_runs_total{labels}": "3.0",
        f"rolecall_run_seconds_total{labels}": "6.0",
        f"rolecall_run_cpu_seconds_total{labels}": "1.5",
        f"rolecall_run_requests_total{labels}": "21.0",
        f"rolecall_owned_objects{labels}": "3.0",
    }


def test_namespaces_without_end_do_not_fill_prometheus() -> None:
    figures = UsageFigures()
    for number in range(MOST_PAIRS + 5):
        figures.used(Key(APP, f"n{number}", "x"), Usage(1, 0, 1.0, 1.0, 1, 1))
    found = samples(figures)
    runs = [name for name in found if name.startswith("rolecall_used_runs_total")]
    assert len(runs) == MOST_PAIRS + 1
    labels = f'{{kind="App",namespace="{OTHERS}"}}'
    assert found[f"rolecall_used_runs_total{labels}"] == "5.0"
    assert found[f"rolecall_owned_objects{labels}"] == "5.0"
