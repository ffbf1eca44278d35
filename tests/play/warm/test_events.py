"""What a warm play reports of its events is kept, however long, and whatever ends it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rolecall.runner import Ending, RunResult
from tests.play.warm.runs import KeptHosts, debug, workshop

LONG = 300_000
# Ends the play in the middle of a task, as the kernel does where memory is short.
DIES = """
import os, signal
class FilterModule:
    def filters(self): return dict(die=lambda text: os.kill(os.getpid(), signal.SIGKILL))
"""


def kept_events(result: RunResult) -> list[dict[str, Any]]:
    """The events of a run, in order, as their files have them."""
    assert result.artifacts is not None
    folder = result.artifacts / "job_events"
    assert not list(folder.glob("*-partial*"))
    events = [json.loads(path.read_text()) for path in folder.iterdir()]
    return sorted(events, key=lambda event: event["counter"])


async def test_events_are_kept_whole_though_a_report_cannot_hold_them(
    tmp_path: Path, kept: KeptHosts
) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        fact = {"ansible.builtin.set_fact": {"long": f"{{{{ 'x' * {LONG} }}}}"}}
        handle, reported = await shop.start(shop.role("long", [fact, debug("after")]))
        result = await handle.result()
        assert (result.succeeded, result.way) == (True, "warm")
        events = kept_events(result)
        facts = next(it for it in events if it["event"] == "runner_on_ok")
        assert facts["event_data"]["res"]["ansible_facts"]["long"] == "x" * LONG
        assert [event.name for event in reported] == [event["event"] for event in events]


async def test_events_from_before_a_kill_are_kept(tmp_path: Path, kept: KeptHosts) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        tasks = [debug("spoke"), debug("{{ 'x' | die }}")]
        result = await shop.run(shop.role("dies", tasks, filter_plugins__die_py=DIES))
        assert (result.ending, result.way) == (Ending.KILLED, "warm")
        said = [
            event["stdout"] for event in kept_events(result) if event["event"] == "runner_on_ok"
        ]
        assert len(said) == 1 and '"msg": "spoke"' in said[0]
