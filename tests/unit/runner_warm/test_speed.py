"""A task's way is the slowest of what it did, and the reason is the one that a reader can act on."""

from __future__ import annotations

from typing import Any

from rolecall.runner.warm.speed import TaskNotes, speed_of, ways_of


def _task(uuid: str, way: str, *modules: dict[str, Any]) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "task": f"task {uuid}",
        "place": f"main.yml:{uuid}",
        "action": "action",
        "way": way,
        "reason": f"action is {way}",
        "seconds": 0.1,
        "modules": list(modules),
    }


def _call(way: str) -> dict[str, Any]:
    return {"module": "m", "way": way, "reason": f"module is {way}", "seconds": 0.05}


def test_tasks_are_counted_by_way() -> None:
    notes = TaskNotes(
        tasks=[
            _task("1", "inline"),
            _task("2", "inline", _call("in-process")),
            _task("3", "inline", _call("in-process"), _call("forked")),
            _task("4", "inline", _call("stock")),
            _task("5", "stock"),
        ]
    )
    assert ways_of(notes) == {"inline": 1, "in-process": 1, "forked": 1, "stock": 2}


def test_modules_of_a_forked_worker_are_put_to_their_task() -> None:
    notes = TaskNotes(tasks=[_task("1", "stock")], modules=[{**_call("forked"), "uuid": "1"}])
    (task,) = speed_of(notes, 1.0)["tasks"]
    assert task["way"] == "forked"
    assert task["reason"] == "action is stock"
    assert [call["module"] for call in task["modules"]] == ["m"]


def test_speed_keeps_the_order_and_the_places() -> None:
    notes = TaskNotes(tasks=[_task("2", "inline"), _task("1", "stock")])
    speed = speed_of(notes, 1.5)
    assert speed["seconds"] == 1.5
    assert [task["place"] for task in speed["tasks"]] == ["main.yml:2", "main.yml:1"]
