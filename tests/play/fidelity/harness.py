"""Runs one group of cases the stock way and the warm way, and makes both comparable.

A group is one YAML file of `cases/`: tasks by case name, and what stands around them. They become one
playbook, each case after a marker task, so that a stock start is paid once for many cases; events are
cut apart at the markers again. What differs between any two runs (ids, times, temporary names) is
replaced by a word; all else must be equal.
"""

from __future__ import annotations

import asyncio
import json
import re
import stat
import threading
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from ansible.parsing.vault import VaultLib, VaultSecret

from rolecall.clock import SystemClock
from rolecall.gvk import Gvk
from rolecall.runner import RunEvent, Runner, RunRequest, RunResult
from rolecall.runner.stock import StockRunner
from rolecall.runner.warm import HostLimits, Hosts, WarmRunner
from rolecall.settings import RunnerSettings
from rolecall.watches import Play, Watch

CASES = Path(__file__).parent / "cases"
COLLECTIONS = Path(__file__).parents[3] / ".collections"
MARKER = "== "
WAYS = ("stock", "warm")
_T = TypeVar("_T")

_VOLATILE_KEYS = frozenset(
    (
        *("uuid", "parent_uuid", "task_uuid", "play_uuid", "playbook_uuid", "runner_ident", "pid"),
        *("created", "duration", "start", "end", "delta", "ctime", "mtime", "atime"),
        *("ansible_date_time", "ansible_interfaces", "ansible_loadavg", "ansible_uptime_seconds"),
        *("ansible_memfree_mb", "ansible_memory_mb", "ansible_swapfree_mb", "ansible_mounts"),
        *("inode", "dev", "ansible_job_id", "start_line", "end_line", "child_pid"),
    )
)
_VOLATILE_TEXTS = [
    (re.compile(pattern), word)
    for pattern, word in (
        (r"[\w/.-]*/rolecall-run-\w+", "<scratch>"),
        (r"^\.[a-z0-9_]{8}$", "<tmpname>"),
        (r"ansible-tmp-[\d.]+-\d+-\d+", "<tmp>"),
        (r"ansible-local-\w+", "<local>"),
        (r"ansible-moduletmp-[\d.]+-\w+", "<moduletmp>"),
        (r"ansible_[\w.]+_payload_\w+", "<payload>"),
        (r"\.ansible_tmp\w+", "<atomic>"),
        (r"\bj?\d{6,}\.\d{2,}", "<job>"),
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?", "<time>"),
        (r"\d+:\d\d:\d\d\.\d+", "<delta>"),
        (r"0x[0-9a-f]{6,}", "<address>"),
        (r"\btmp[a-z0-9_]{8}\b", "<tmpname>"),
        (r"\b(process|pid|PID|p)[= ]\d+", "<pid>"),
        (r"Paused for [\d.]+ seconds", "<paused>"),
    )
]


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
    """What one way made of a group."""

    result: RunResult
    slices: dict[str, list[Any]] = field(default_factory=dict)
    stdout: str = ""
    tree: dict[str, Any] = field(default_factory=dict)
    way: str = ""


def groups() -> list[Group]:
    """Every group, in the order of the files."""
    return [
        Group(path.stem, yaml.safe_load(path.read_text())) for path in sorted(CASES.glob("*.yml"))
    ]


class Both:
    """A stock and a warm runner on a loop of their own; what ran once is remembered."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fidelity", daemon=True)
        self._thread.start()
        self._hosts = Hosts(SystemClock(), HostLimits(start_wait_s=120))
        self._done: dict[str, dict[str, Outcome]] = {}
        self._count = 0

    def outcomes(self, group: Group) -> dict[str, Outcome]:
        """The group's outcome by way."""
        if group.name not in self._done:
            self._done[group.name] = self._call(self._run_both(group))
        return self._done[group.name]

    def close(self) -> None:
        """End hosts and loop."""
        self._hosts.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(1800)

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
            events: list[RunEvent] = []
            handle = await runner.start(request, events.append)
            result = await handle.result()
        await stock.close()
        words = [
            (str(result.artifacts), "<artifacts>"),
            (str(work), "<work>"),
            (f"/{way}/", "/<way>/"),
            (request.run_id, "<run>"),
        ]
        assert result.artifacts is not None
        stdout = (result.artifacts / "stdout").read_text()
        return Outcome(
            result=result,
            slices=_slices([_normal_event(event, words) for event in _files(result.artifacts)]),
            stdout=_normal_text(stdout, words),
            tree=_tree(work, words),
            way=result.way,
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


def _files(artifacts: Path) -> list[dict[str, Any]]:
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


def _normal_event(event: dict[str, Any], words: list[tuple[str, str]]) -> dict[str, Any]:
    normal = _normal(event, words)
    assert isinstance(normal, dict)
    return normal | {"counter": event["counter"]}


def _normal(value: Any, words: list[tuple[str, str]]) -> Any:
    if isinstance(value, dict):
        return {
            _normal(key, words): "<volatile>" if key in _VOLATILE_KEYS else _normal(item, words)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_normal(item, words) for item in value]
    return _normal_text(value, words) if isinstance(value, str) else value


def _normal_text(text: str, words: list[tuple[str, str]]) -> str:
    for found, word in words:
        text = text.replace(found, word)
    for pattern, word in _VOLATILE_TEXTS:
        text = pattern.sub(word, text)
    return text


def _tree(folder: Path, words: list[tuple[str, str]]) -> dict[str, Any]:
    tree = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = (
            _normal_text(path.read_bytes().decode(errors="replace"), words)
            if path.is_file()
            else ""
        )
        target = str(path.readlink()) if path.is_symlink() else ""
        name = _normal_text(str(path.relative_to(folder)), words)
        tree[name] = (oct(stat.S_IMODE(status.st_mode)), target, content)
    return tree
