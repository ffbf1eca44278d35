"""Groups of cases: one YAML file each, played as one playbook, compared case by case.

A group names its tasks by case, and what stands around them. They become one playbook, each case after
a marker task, so that a stock start is paid once for many cases; events are cut apart at the markers
again. What differs between any two runs is replaced by a word, see `normal`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rolecall.runner.contract import RunResult
from rolecall.runner.warm.proof.normal import Normal

CASE_MARKER = "== "


@dataclass(frozen=True)
class CaseGroup:
    """One file of cases."""

    name: str
    data: dict[str, Any]

    @property
    def cases(self) -> list[str]:
        """Names of its cases; a group that is a playbook of its own is one case."""
        return list(self.data.get("cases", {}))


@dataclass
class GroupOutcome:
    """What one way made of a group; `world` is what its surroundings look like afterwards."""

    result: RunResult
    slices: dict[str, list[Any]] = field(default_factory=dict)
    stdout: str = ""
    tree: dict[str, Any] = field(default_factory=dict)
    world: Any = None
    way: str = ""
    modules: dict[str, set[str]] = field(default_factory=dict)  # the ways that each module went

    def part(self, name: str) -> list[str]:
        """Events of a case, or of `head` and `tail`, one line each."""
        events = self.slices.get(name, [])
        return [json.dumps(event, sort_keys=True, ensure_ascii=False) for event in events]

    @property
    def ending(self) -> tuple[object, ...]:
        """How the run ended, as the rest of the engine sees it."""
        result, recap = self.result, self.result.recap
        counts = recap and (recap.ok, recap.changed, recap.skipped, recap.failures)
        failures = [(failure.task, failure.place, failure.host) for failure in result.failures]
        return (result.ending, result.rc, counts, failures, list(result.changed_tasks))


def groups_in(folder: Path) -> list[CaseGroup]:
    return [
        CaseGroup(path.stem, yaml.safe_load(path.read_text()))
        for path in sorted(folder.glob("*.yml"))
    ]


def write_project(project: Path, group: CaseGroup, extra: Mapping[str, Any]) -> None:
    """Write the group's playbook and files; what is no text becomes YAML, `#!` makes a program."""
    project.mkdir(parents=True)
    for name, content in {**_files(group), **extra}.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        is_text = isinstance(content, str)
        path.write_text(content if is_text else yaml.safe_dump(content, sort_keys=False))
        if is_text and content.startswith("#!"):
            path.chmod(0o755)


def outcome_of(result: RunResult, normal: Normal, work: Path, world: Any = None) -> GroupOutcome:
    """What is left of a run, made comparable; `work` is the folder that its tasks wrote to."""
    assert result.artifacts is not None
    return GroupOutcome(
        result=result,
        slices=_slices([normal.event(event) for event in _events_in(result.artifacts)]),
        stdout=normal.text((result.artifacts / "stdout").read_text()),
        tree=normal.tree(work),
        world=world,
        way=result.way,
        modules=_modules(result.artifacts),
    )


def differing(group: CaseGroup, stock: GroupOutcome, warm: GroupOutcome) -> Iterator[str]:
    """Cases that do not look the same both ways, and which other parts of the outcome do not."""
    in_order = sorted if group.data.get("unordered") else list
    for name in dict.fromkeys([*stock.slices, *warm.slices]):
        if in_order(stock.part(name)) != in_order(warm.part(name)):
            yield name
    for part in ("ending", "tree", "world"):
        if getattr(stock, part) != getattr(warm, part):
            yield part


def _files(group: CaseGroup) -> dict[str, Any]:
    files = {"playbook.yml": group.data.get("playbook") or _playbook(group)}
    files |= group.data.get("files", {})
    if "inventory" in group.data:
        files["inventory"] = group.data["inventory"]
    return files


def _playbook(group: CaseGroup) -> str:
    tasks: list[dict[str, Any]] = []
    for name, case in group.data["cases"].items():
        tasks.append({"name": f"{CASE_MARKER}{name}", "ansible.builtin.debug": {"msg": name}})
        tasks.append({"name": name, "ignore_errors": True, "block": case})
    play = {"hosts": "localhost", "gather_facts": False, **group.data.get("play", {})}
    return yaml.safe_dump([{**play, "tasks": tasks}], sort_keys=False, width=1000)


def _events_in(artifacts: Path) -> list[dict[str, Any]]:
    events = [json.loads(path.read_text()) for path in (artifacts / "job_events").glob("*.json")]
    # How often an async task was asked depends on the machine's mood alone.
    asked = [event for event in events if event["event"] != "runner_on_async_poll"]
    return sorted(asked, key=lambda event: int(event["counter"]))


def _slices(events: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Events by case; `head` before the first marker, `tail` from the recap on."""
    slices: dict[str, list[Any]] = {"head": [], "tail": []}
    current = "head"
    for event in events:
        name = str(event.get("event_data", {}).get("name", ""))
        if event["event"] == "playbook_on_task_start" and name.startswith(CASE_MARKER):
            current = name.removeprefix(CASE_MARKER)
        if event["event"] == "playbook_on_stats":
            current = "tail"
        event.pop("counter", None)
        slices.setdefault(current, []).append(event)
    return slices


def _modules(artifacts: Path) -> dict[str, set[str]]:
    """What the warm way noted: modules by name, with the ways that they went."""
    noted, found = artifacts / "speed.json", dict[str, set[str]]()
    for task in json.loads(noted.read_text())["tasks"] if noted.exists() else []:
        for call in task["modules"]:
            found.setdefault(call["module"], set()).add(call["way"])
    return found
