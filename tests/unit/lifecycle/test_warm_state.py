"""Where the engine reports that plays go the stock way."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

from rolecall.kube import Client, ForbiddenError, Target
from rolecall.lifecycle import WarmStateReport, find_own_pod
from rolecall.metrics import EngineMetrics
from rolecall.runner import WarmState, WarmSupport
from tests.fixtures.eventually import eventually_async

POD = {"kind": "Pod", "metadata": {"name": "own", "namespace": "here", "uid": "1"}}
REFUSED = WarmSupport(WarmState.REFUSED, "case `x` differed")


class Recorder:
    def __init__(self) -> None:
        self.said: list[tuple[Any, str, str]] = []

    def record(self, cr: Any, *, kind: str, reason: str, message: str) -> None:
        self.said.append((cr, f"{kind} {reason}", message))


def _report(recorder: Recorder, metrics: EngineMetrics, pod: Any, leads: asyncio.Event) -> Any:
    async def find_pod() -> Any:
        return pod

    return WarmStateReport(metrics, recorder, find_pod, leads.wait)


async def test_refusal_is_a_metric_a_note_and_an_event_once_it_leads() -> None:
    metrics, recorder, leads = EngineMetrics("1"), Recorder(), asyncio.Event()
    report = _report(recorder, metrics, POD, leads)
    thread = threading.Thread(target=report.update, args=[REFUSED])
    thread.start()
    thread.join()
    await eventually_async(report.note)
    assert report.note() == "every run starts ansible-playbook anew (stock): case `x` differed"
    text = metrics.exposition().decode()
    assert 'rolecall_warm_state{state="refused"} 1.0' in text
    assert 'rolecall_warm_state{state="known"} 0.0' in text
    assert not recorder.said
    leads.set()
    await eventually_async(lambda: recorder.said)
    pod, what, message = recorder.said[0]
    assert pod is POD and what == "Warning NotWarm" and "case `x` differed" in message
    await report.close()


async def test_outside_of_a_pod_no_event_is_posted() -> None:
    leads = asyncio.Event()
    leads.set()
    recorder = Recorder()
    report = _report(recorder, EngineMetrics("1"), None, leads)
    report.update(REFUSED)
    await eventually_async(report.note)
    await report.close()
    assert not recorder.said


async def test_what_was_known_or_proven_is_nothing_to_say() -> None:
    report = _report(Recorder(), EngineMetrics("1"), POD, asyncio.Event())
    report.update(WarmSupport(WarmState.PROVING, "being proven"))
    await eventually_async(lambda: "being proven" in report.note())
    report.update(WarmSupport(WarmState.PROVEN))
    await eventually_async(lambda: not report.note())


class _MayNotRead(Client):
    def __init__(self) -> None:
        pass

    async def get(self, *_: Any) -> Any:
        raise ForbiddenError("no", code=403, target=Target("get"))


async def test_own_pod_is_named_without_the_right_to_read_it(tmp_path: Path) -> None:
    environment = {"POD_NAME": "own", "POD_NAMESPACE": "here", "POD_UID": "1"}
    pod = await find_own_pod(_MayNotRead(), environment, tmp_path / "none")
    assert pod == {"apiVersion": "v1", **POD}


async def test_own_pod_is_found_by_what_every_pod_has(tmp_path: Path) -> None:
    (tmp_path / "namespace").write_text("here\n")
    pod = await find_own_pod(_MayNotRead(), {"POD_NAME": "own"}, tmp_path / "namespace")
    assert pod is not None and pod["metadata"]["namespace"] == "here"
    assert await find_own_pod(_MayNotRead(), {}, tmp_path / "none") is None
