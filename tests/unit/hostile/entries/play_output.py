"""What a play prints and reports: output with markers, events, files of events, cut anywhere.

A module's output and a task's name may be anything, and a CR's text may look like a marker.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rolecall.gvk import Gvk
from rolecall.logs import PrintedPlays
from rolecall.reconcile.verdict import failure_fields, message_of, verdict_of
from rolecall.runner.fold import Exit
from rolecall.runner.secrets import MASK
from rolecall.status import Ended
from rolecall.workqueue import Key
from tests.unit.hostile.dice import Dice
from tests.unit.hostile.entry_point import Check, EntryPoint, must
from tests.unit.runner.cases import app
from tests.unit.runner.test_recording import Recorded, marker

_VALUE = "s3cr3t-9f8e7d6c5b"
_FORMS = (_VALUE, base64.b64encode(_VALUE.encode()).decode())
_SECRET = {"kind": "Secret", "data": {"p": _FORMS[1]}}
_NAMES = (
    *("playbook_on_start", "playbook_on_task_start", "runner_on_ok", "runner_on_failed", "verbose"),
    *("runner_on_skipped", "runner_item_on_failed", "runner_item_on_ok", "runner_on_unreachable"),
    *("playbook_on_stats", "playbook_on_handler_task_start", "runner_on_start", "error", "\u0130"),
)
_LONGEST_MESSAGE = 32 * 1024  # of a condition, as the API server has it
_KEY = Key(Gvk("demo.example.com", "v1", "App"), "demo", "shop")


def _event(dice: Dice, number: int) -> dict[str, Any]:
    result: dict[str, Any] = {"changed": True, "msg": dice.text(), "period": dice.text(), "rc": 1}
    result["result"] = _SECRET if dice.happens(0.2) else dice.text()
    result["stdout"] = f"the password is {_VALUE}" if dice.happens(0.3) else dice.text()
    data: dict[str, Any] = {
        "task": dice.text(),
        "task_action": dice.pick(
            ("debug", "fail", "meta", "operator_sdk.util.requeue_after", "k8s")
        ),
        "task_path": dice.pick(("/project/roles/app/tasks/main.yml:3", "/dev/null:1", dice.text())),
        "host": "localhost",
        "task_uuid": str(number),
        "res": result,
    }
    for row in ("ok", "failures", "rescued", "ignored", "dark"):
        data[row] = {"localhost": dice.number(0, 2)} if dice.happens(0.5) else dice.tree(1)
    event = {
        "uuid": f"uuid-{number}",
        "event": dice.pick(_NAMES),
        "created": dice.pick(("2026-11-21T09:13:44.500000+00:00", dice.text())),
        "event_data": data,
        "pid": 7,
    }
    if dice.happens(0.2):
        event |= {
            dice.pick(("stdout", "counter", "start_line", "rolecall_at_s", "x")): dice.tree(1)
        }
    changed = event if dice.happens(0.5) else dice.changed(event, 0.06)
    return changed if isinstance(changed, dict) else event


def _make(dice: Dice) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    for number in range(dice.number(1, 5)):
        event = _event(dice, number)
        text = json.dumps(event)
        if dice.happens(0.15):
            text = dice.damaged(text)
        steps.append(
            {dice.pick(("report", "file", "nothing")): {"event": event, "text": text, "n": number}}
        )
        said = dice.text() + dice.pick(("", f" {_VALUE} ", "\n"))
        named = {"uuid": dice.pick((f"uuid-{number}", f"uuid-{number}", "../x", dice.tree(1)))}
        steps.append({"print": f"{marker(named)}{said}{marker({})}"})
        if dice.happens(0.3):
            steps.append({"print": dice.damaged(dice.text() + marker({"uuid": dice.text()}))})
    return {
        "steps": steps,
        "cut": dice.pick((1, 7, 100000)),
        "rc": dice.pick((0, 2, None)),
        "tail": dice.text(),
    }


@contextmanager
def _open(folder: Path) -> Iterator[Check]:
    count = 0

    def check(case: Any) -> bool:
        nonlocal count
        count += 1
        home = folder / str(count)
        home.mkdir()
        try:
            return _checked(case, home)
        finally:
            shutil.rmtree(home)

    yield check


def _checked(case: Any, home: Path) -> bool:
    recorded = Recorded(home)
    recording = recorded.recording
    with recording:
        for step in case["steps"]:
            ((way, what),) = step.items()
            if way == "print":
                for start in range(0, len(what), case["cut"]):
                    recording.feed(what[start : start + case["cut"]])
            elif way == "report":
                recording.report(json.loads(json.dumps(what["event"])))
            elif way == "file":
                partial = recorded.artifacts / "job_events" / f"uuid-{what['n']}-partial.json"
                partial.write_text(what["text"], encoding="utf-8", errors="surrogatepass")
        signal = None if case["rc"] is not None else 9
        result = recording.finish(Exit(case["rc"], signal=signal))
    _check_files(recorded, home, is_intact=all(map(_is_intact, case["steps"])))
    _check_printed(recorded, result)
    text = json.dumps(Ended(verdict_of(result), 1)(app(), "2026-11-25T10:00:00Z"))
    text.encode()
    must(len(message_of(result)) <= _LONGEST_MESSAGE, "a condition's message fits a condition")
    must(
        "\n" not in str(failure_fields(result, "x").get("error", "")),
        "an error is one line of the log",
    )
    return True


def _check_files(recorded: Recorded, home: Path, *, is_intact: bool) -> None:
    # Masked somewhere: so the value was learnt, and must be masked everywhere.
    has_secret = is_intact and any(_has_masked_secret(event.data) for event in recorded.events)
    private = recorded.prepared.private_dir
    for path in home.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        must(path.is_relative_to(private), f"no file outside of the run's folder: {path}")
        if not path.is_relative_to(recorded.artifacts):
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        must(mode & 0o077 == 0 or "partial" in path.name, f"{path.name} is for its owner: {mode:o}")
        if has_secret:
            text = path.read_text(encoding="utf-8", errors="replace")
            must(not any(form in text for form in _FORMS), f"no value of a Secret in {path.name}")
    for path in (recorded.artifacts / "job_events").glob("*.json"):
        if "partial" not in path.name:
            json.loads(path.read_text(encoding="utf-8"))


def _is_intact(step: dict[str, Any]) -> bool:
    """Whether a Secret in it is whole: from the rest of one, no value can be learnt."""
    ((way, what),) = step.items()
    return way == "print" or (
        what["text"] == json.dumps(what["event"]) and _are_whole(what["event"])
    )


def _are_whole(value: Any) -> bool:
    if isinstance(value, dict):
        if value.get("kind") == "Secret" and value != _SECRET:
            return False
        return all(map(_are_whole, value.values()))
    return not isinstance(value, list) or all(map(_are_whole, value))


def _has_masked_secret(data: Any) -> bool:
    if isinstance(data, dict):
        found = data.get("data")
        is_secret = data.get("kind") == "Secret" and isinstance(found, dict)
        if is_secret and isinstance(found, dict) and found.get("p") == MASK:
            return True
        return any(map(_has_masked_secret, data.values()))
    return isinstance(data, list) and any(map(_has_masked_secret, data))


def _check_printed(recorded: Recorded, result: Any) -> None:
    for mode in ("everything", "tasks"):
        stream = io.StringIO()
        plays = PrintedPlays(mode, prints_stdout=True, stream=stream)
        for event in recorded.events:
            plays.event(_KEY, "1", event, 0)
        asyncio.run(plays.recap(_KEY, result)) if mode == "tasks" else None


PLAY_OUTPUT = EntryPoint("play_output", _make, _open, cases=500)
