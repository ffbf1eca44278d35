"""Runs one group of cases the stock way and the warm way, and makes both comparable.

A group is one YAML file of `cases/`: tasks by case name, and what stands around them. They become one
playbook, each case after a marker task, so that a stock start is paid once for many cases; events are
cut apart at the markers again. What differs between any two runs is replaced by a word, see `normal`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml
from ansible.parsing.vault import VaultLib, VaultSecret

from rolecall.clock import SystemClock
from rolecall.gvk import Gvk
from rolecall.runner import Runner, RunRequest, RunResult
from rolecall.runner.stock import StockRunner
from rolecall.runner.warm import HostLimits, Hosts, WarmRunner
from rolecall.settings import RunnerSettings
from rolecall.watches import Play, Watch
from tests.play.fidelity.normal import Normal, Words

CASES = Path(__file__).parent / "cases"
COLLECTIONS = Path(__file__).parents[3] / ".collections"
MARKER = "== "
WAYS = ("stock", "warm")
# What differs by chance is equal the next time; what the warm way does otherwise, never is. Each repeat
# counts: with more than a handful of them it is no longer chance.
_REPEATS, MOST_REPEATED = 2, 5
_T = TypeVar("_T")


@dataclass(frozen=True)
class Group:
    """One file of cases."""

    name: str
    data: dict[str, Any]

    @property
    def cases(self) -> list[str]:
        """Names of its cases; a group that is a playbook of its own is one case."""
        return list(self.data.get("cases", {}))


@dataclass
class Outcome:
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


@dataclass
class Staged:
    """A run that may start: its request, and what is known of this run alone."""

    request: RunRequest
    normal: Normal


class Surroundings:
    """What a group's runs find around them besides their project: here nothing.

    The suite against an API server puts a namespace there, a CR, and a proxy with a credential.
    """

    async def open(self) -> None:
        """Called first, on the loop of all runs."""

    async def close(self) -> None:
        """Called last."""

    @asynccontextmanager
    async def stage(
        self, _group: Group, request: RunRequest, words: Words
    ) -> AsyncIterator[Staged]:
        """Hold for the length of one run."""
        yield Staged(request, Normal(words))

    async def world(self, _group: Group, _way: str, _normal: Normal) -> Any:
        """What the runs of one way made of what is around them."""
        return None


def groups(folder: Path = CASES) -> list[Group]:
    """Every group, in the order of the files."""
    return [
        Group(path.stem, yaml.safe_load(path.read_text())) for path in sorted(folder.glob("*.yml"))
    ]


class Both:
    """A stock and a warm runner on a loop of their own; what ran once is remembered."""

    def __init__(self, root: Path, around: Surroundings | None = None) -> None:
        self._root = root
        self._around = around or Surroundings()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fidelity", daemon=True)
        self._thread.start()
        self._hosts = Hosts(SystemClock(), HostLimits(start_wait_s=120))
        self._done: dict[str, dict[str, Outcome] | Exception] = {}
        self._count = 0
        self.repeated: list[str] = []  # groups that were not equal the first time
        self._call(self._around.open())

    def outcomes(self, group: Group) -> dict[str, Outcome]:
        """The group's outcome by way; what could not be run is not tried for each case again."""
        if group.name not in self._done:
            try:
                self._done[group.name] = self._call(self._run_until_equal(group))
            except Exception as error:
                self._done[group.name] = error
        done = self._done[group.name]
        if isinstance(done, Exception):
            raise done
        return done

    def run_chosen(self, items: Sequence[pytest.Item], of: Sequence[Group]) -> None:
        """Run the groups of tests that were chosen; hosts live from here to the end of all."""
        calls = [item.callspec for item in items if hasattr(item, "callspec")]
        chosen = {getattr(call.params.get("group"), "name", "") for call in calls}
        for group in of:
            if group.name in chosen:
                with contextlib.suppress(Exception):  # told by each of its tests
                    self.outcomes(group)

    def close(self) -> None:
        """End hosts and loop."""
        self._call(self._around.close())
        self._hosts.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(1800)

    async def _run_until_equal(self, group: Group) -> dict[str, Outcome]:
        """Ansible prints from two threads: now and then it says the same in another order."""
        outcomes = await self._run_both(group)
        for _ in range(_REPEATS):
            if _are_equal(group, outcomes):
                break
            self.repeated.append(group.name)
            outcomes = await self._run_both(group)
        return outcomes

    async def _run_both(self, group: Group) -> dict[str, Outcome]:
        self._count += 1
        folder = self._root / f"{self._count:03}-{group.name}"
        project = folder / "project"
        _write_files(project, group)
        # Side by side: a stock run leaves one of two processors idle most of the time.
        both = [self._run(group, way, folder) for way in WAYS]
        return dict(zip(WAYS, await asyncio.gather(*both), strict=True))

    async def _run(self, group: Group, way: str, folder: Path) -> Outcome:
        settings = self._settings(group, folder)
        stock = StockRunner(settings)
        runner: Runner = WarmRunner(settings, stock, hosts=self._hosts) if way == "warm" else stock
        work = folder / f"work-{way}"
        work.mkdir()
        for repeat in range(int(group.data.get("repeat", 1))):
            request = _request(group, way, folder, work, repeat)
            words = [(str(work), "<work>"), (f"/{way}/", "/<way>/"), (request.run_id, "<run>")]
            async with self._around.stage(group, request, words) as staged:
                handle = await runner.start(staged.request, lambda _event: None)
                result = await handle.result()
                world = await self._around.world(group, way, staged.normal)
        await stock.close()
        assert result.artifacts is not None
        normal, events = staged.normal, _events_in(result.artifacts)
        return Outcome(
            result=result,
            slices=_slices([normal.event(event) for event in events]),
            stdout=normal.text((result.artifacts / "stdout").read_text()),
            tree=normal.tree(work),
            world=world,
            way=result.way,
            modules=_modules(result.artifacts),
        )

    def _settings(self, group: Group, folder: Path) -> RunnerSettings:
        data = group.data
        inventory = folder / "project" / "inventory" if "inventory" in data else None
        arguments = str(data.get("args", "")).replace("PROJECT", str(folder / "project"))
        return RunnerSettings(
            root=folder / "root",
            ansible_args=arguments,
            inventory=inventory,
            collections_path=str(COLLECTIONS),
            environment=_environment(data.get("environment", {}), folder),
        )


def _are_equal(group: Group, outcomes: dict[str, Outcome]) -> bool:
    stock, warm = outcomes["stock"], outcomes["warm"]
    names = {*stock.slices, *warm.slices}
    in_order = sorted if group.data.get("unordered") else list
    return (stock.tree, stock.ending, stock.world) == (warm.tree, warm.ending, warm.world) and all(
        in_order(stock.part(name)) == in_order(warm.part(name)) for name in names
    )


def _environment(asked: dict[str, str], folder: Path) -> dict[str, str]:
    # What background jobs need outlives their run, so it goes where it is removed with all else.
    temporary = folder.parent / "tmp"
    temporary.mkdir(exist_ok=True)
    home = str(folder.parent / "ansible-home")
    quiet = {"ANSIBLE_HOME": home, "TMPDIR": str(temporary), "LC_ALL": "C.UTF-8"}
    quiet["PYTEST_CURRENT_TEST"] = ""  # pytest's own, and another host for each test
    named = {key: value.replace("PROJECT", str(folder / "project")) for key, value in asked.items()}
    return quiet | named


def _request(group: Group, way: str, folder: Path, work: Path, repeat: int) -> RunRequest:
    watch = Watch(
        gvk=Gvk("test.example.com", "v1", "Case"),
        play=Play(folder / "project" / "playbook.yml", is_role=False),
        mark_unsafe=None,
    )
    cr = {
        "apiVersion": "test.example.com/v1",
        "kind": "Case",
        "metadata": {"name": way, "namespace": "fidelity"},
        "spec": {"work": str(work), **group.data.get("spec", {})},
    }
    return RunRequest(
        run_id=f"run-{way}-{repeat}",
        watch=watch,
        cr=cr,
        is_finalizer=False,
        kubeconfig=folder / "kubeconfig",
        verbosity=int(group.data.get("verbosity", 0)),
        keep_artifacts=0,
        timeout_s=900,
    )


def _write_files(project: Path, group: Group) -> None:
    project.mkdir(parents=True)
    files = {"playbook.yml": group.data.get("playbook") or _playbook(group), **_extra(group)}
    for name, content in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        is_text = isinstance(content, str)
        path.write_text(content if is_text else yaml.safe_dump(content, sort_keys=False))
        if is_text and content.startswith("#!"):
            path.chmod(0o755)


def _extra(group: Group) -> dict[str, Any]:
    extra = dict(group.data.get("files", {}))
    if "inventory" in group.data:
        extra["inventory"] = group.data["inventory"]
    for name, text in group.data.get("vault", {}).items():
        extra[name] = VaultLib().encrypt(text, VaultSecret(b"let me in")).decode()
    return extra


def _playbook(group: Group) -> str:
    tasks: list[dict[str, Any]] = []
    for name, case in group.data["cases"].items():
        tasks.append({"name": f"{MARKER}{name}", "ansible.builtin.debug": {"msg": name}})
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
        if event["event"] == "playbook_on_task_start" and name.startswith(MARKER):
            current = name.removeprefix(MARKER)
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
