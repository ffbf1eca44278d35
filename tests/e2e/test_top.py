"""`rolecall top` on a real API server: its keys stop, pause, resume and reconcile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from rolecall_dev.top.app import TopApp
from rolecall_dev.top.operator import ChildCommands
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S
from tests.e2e.kinds import condition, cr, kind
from tests.e2e.shared import SharedEngine
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually_async

SLOW = kind("Slow")
SHARED_ENGINE = (BEHAVIOURS,)
KINDS = [crd_for(SLOW)]
WAITING_TASK = "wait to be let go"


class Screen:
    """What a person sees and types."""

    def __init__(self, app: TopApp, pilot: Pilot[None]) -> None:
        self.app, self._pilot = app, pilot

    async def shows(self, text: str) -> None:
        async def shown() -> str:
            await asyncio.sleep(0.1)
            rows = self.app.screen._compositor.render_strips()
            return "\n".join(row.text for row in rows)

        await eventually_async(shown, lambda found: text in found, timeout_s=PATIENCE_S)

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)


@pytest.fixture
def app(
    shared_engine: SharedEngine,
    cluster: Cluster,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> TopApp:
    monkeypatch.setenv("KUBECONFIG", str(cluster.kubeconfig))
    place = [f"--artifacts-dir={shared_engine.artifacts}"]
    return TopApp(ChildCommands(place, [f"--namespace={namespace}"]))


async def test_person_stops_pauses_resumes_and_reconciles(
    api: Client, namespace: str, app: TopApp, shared_engine: SharedEngine, tmp_path: Path
) -> None:
    async def until(is_met: Callable[[Json], bool]) -> None:
        await eventually_async(lambda: api.get(SLOW, namespace, "x"), is_met, timeout_s=PATIENCE_S)

    async def succeeded() -> float:
        return shared_engine.runs("Slow", result="succeeded")

    def annotation(found: Json, name: str) -> object:
        return (found["metadata"].get("annotations") or {}).get(f"rolecall.dev/{name}")

    await api.create(SLOW, cr(SLOW, namespace, folder=str(tmp_path)))
    async with app.run_test(size=(200, 30), notifications=True) as pilot:
        screen = Screen(app, pilot)
        await screen.shows(WAITING_TASK)
        await screen.press("l")
        await screen.shows(f"TASK [slow : {WAITING_TASK}]")
        await screen.press("escape", "x")
        await screen.shows("y: yes")
        await screen.press("y")
        await screen.shows("cancelled")
        await until(lambda found: "topped" in condition(found, "Running").get("message", ""))

        await screen.press("p")
        await screen.shows("nothing runs for it until you resume it")
        await screen.press(*"moving", "enter")
        await until(lambda found: annotation(found, "paused") == "true")
        await until(lambda found: annotation(found, "paused-because") == "moving")
        await screen.shows("paused")
        await screen.shows(": moving")

        (tmp_path / "go").touch()
        await screen.press("p")
        await until(lambda found: annotation(found, "paused") is None)
        await screen.shows("1 ready")

        runs = await succeeded()
        await screen.press("r")
        await eventually_async(
            succeeded,
            lambda found: found == runs + 1,
            timeout_s=PATIENCE_S,
        )
        await screen.press("enter")
        await screen.shows("asked for by a person")
        await screen.press("enter")
        await screen.shows("PLAY RECAP")
        await screen.press("escape", "escape", "q")


async def test_lost_engine_is_reported_and_the_next_one_is_found(
    api: Client, namespace: str, app: TopApp, shared_engine: SharedEngine, tmp_path: Path
) -> None:
    (tmp_path / "go").touch()
    await api.create(SLOW, cr(SLOW, namespace, folder=str(tmp_path)))
    async with app.run_test(size=(200, 30)) as pilot:
        screen = Screen(app, pilot)
        await screen.shows("1 ready")
        shared_engine.stop()
        await screen.shows("No engine answers, trying again: ")
        await screen.shows("slow/x")
