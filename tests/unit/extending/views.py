"""An engine as extensions see it, for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from rolecall.clock import SystemClock
from rolecall.election import Election
from rolecall.extending import EngineView, Extension, Extensions, LastRuns, foresee_nothing
from rolecall.metrics import EngineMetrics, MetricSpec
from rolecall.reconcile import AllKeys
from rolecall.settings import RunnerSettings, Settings
from rolecall.supervisor import Supervisor


class NoEvents:
    def record(self, *_: object, **_named: object) -> None:
        """Drop it: no test reads Events here."""


def engine_view(root: Path, metrics: Sequence[MetricSpec] = (), **more: Any) -> EngineView:
    view = EngineView(
        version="1.2",
        settings=Settings(runner=RunnerSettings(root=root)),
        environment={},
        watches=[],
        clock=SystemClock(),
        client=None,  # type: ignore[arg-type]
        leading_client=None,  # type: ignore[arg-type]
        unfenced_client=None,  # type: ignore[arg-type]
        election=Election(),
        events=NoEvents(),
        metrics=EngineMetrics("1.2", more=metrics),
        supervisor=Supervisor(SystemClock()),
        keys=None,  # type: ignore[arg-type]
        dependents=None,  # type: ignore[arg-type]
        is_listed=lambda: True,
        runner=None,  # type: ignore[arg-type]
        issue_read_access=None,  # type: ignore[arg-type]
        issue_access_to_world=None,  # type: ignore[arg-type]
        issue_access_to_process=None,  # type: ignore[arg-type]
        held=lambda _: nullcontext(),
        foresee=foresee_nothing,
        acted=lambda *_: None,
        reviewer_of=lambda _: None,
        spec_keys=AllKeys(),
        findings_in_flight=lambda _: {},
        last_runs=LastRuns(root),
        inspected=lambda: None,  # type: ignore[arg-type,return-value]
        files={},
        retry=lambda *_: None,
        run_again=lambda _: None,
    )
    return replace(view, **more)


def host_of(
    classes: Sequence[type[Extension]],
    view: EngineView,
    on_fault: Callable[[str], None] = lambda _: None,
) -> Extensions:
    """These, begun."""
    host = Extensions(classes, view.clock, on_fault)
    host.begin(view)
    return host
