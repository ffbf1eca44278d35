"""What the tests of the warm runner share: a runner in its own folder, roles written on the spot."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from rolecall.clock import SystemClock
from rolecall.extensions.skip import SkipUnchanged
from rolecall.gvk import Gvk
from rolecall.runner import RunEvent, RunHandle, RunRequest, RunResult, terms_of
from rolecall.runner.stock import StockRunner
from rolecall.runner.warm import HostLimits, Hosts, WarmRunner
from rolecall.settings import RunnerSettings
from rolecall.watches import Play, Watch
from rolecall_base.processes import children_of

Tasks = list[dict[str, Any]]
# Far more than anything here needs; a machine may be busy with other things.
PATIENCE_S = 120.0


class Workshop:
    """One warm runner, its folder, and the roles that it runs."""

    def __init__(self, folder: Path, runner: WarmRunner, hosts: Hosts) -> None:
        self.folder = folder
        self.runner = runner
        self.hosts = hosts
        # A host that outlives its runner must not take a run for one of an earlier test.
        self._prefix = f"{folder.name}-" if isinstance(hosts, KeptHosts) else ""
        self._count = 0

    def role(self, name: str, tasks: Tasks, **files: str) -> Path:
        """Write (or rewrite) a role; `files` are given as `library__x_py="..."`."""
        role = self.folder / "roles" / name
        write(role / "tasks" / "main.yml", yaml.safe_dump(tasks, sort_keys=False))
        for path, text in files.items():
            write(role / path.replace("__", "/").replace("_py", ".py"), text)
        return role

    async def start(self, role: Path, **changes: Any) -> tuple[RunHandle, list[RunEvent]]:
        """Start a run of a role; events arrive in the list."""
        self._count += 1
        events: list[RunEvent] = []
        request = request_for(role, f"{self._prefix}run-{self._count}", self.folder, **changes)
        return await self.runner.start(request, events.append), events

    async def run(self, role: Path, **changes: Any) -> RunResult:
        """Run a role to its end."""
        handle, _events = await self.start(role, **changes)
        return await handle.result()

    @property
    def host_pid(self) -> int:
        """The one host that serves."""
        (pid,) = self.hosts.pids
        return pid


class KeptHosts(Hosts):
    """Hosts that outlive the runners which use them, since starting one takes over a second.

    For tests that neither harm a host nor look into it.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(SystemClock(), HostLimits(start_wait_s=PATIENCE_S))
        self.environment = {"ANSIBLE_HOME": str(folder / "home")}

    def close(self, timeout_s: float = 5.0) -> None:
        """Of one runner: they stay."""

    def end(self) -> None:
        """End them."""
        super().close()


@asynccontextmanager
async def workshop(
    folder: Path, limits: HostLimits | None = None, kept: KeptHosts | None = None, **settings: Any
) -> AsyncIterator[Workshop]:
    """A warm runner that is closed, whatever happens; with hosts of its own unless some are kept."""
    values = {
        "root": folder / "root",
        "skip_facts": True,
        **settings,
    }
    # Temporary files of background jobs stay where jobs outlive their run.
    own = {"ANSIBLE_HOME": str(folder / "home"), "TMPDIR": str(folder)}
    own["PYTEST_CURRENT_TEST"] = ""  # pytest's own, and it changes in the middle of a test
    if kept is not None:
        own |= kept.environment
    values["environment"] = own | values.get("environment", {})
    chosen = RunnerSettings(**values)
    hosts = kept or Hosts(SystemClock(), limits or HostLimits(start_wait_s=PATIENCE_S))
    stock = StockRunner(chosen)
    runner = WarmRunner(chosen, stock, hosts=hosts)
    try:
        yield Workshop(folder, runner, hosts)
    finally:
        await runner.close()
        await stock.close()


CASE = Gvk("test.example.com", "v1", "Case")


def request_for(role: Path, run_id: str, folder: Path, **changes: Any) -> RunRequest:
    """A request to run a role for a CR named `one`."""
    name = changes.pop("name", "one")
    spec = changes.pop("spec", {})
    # What it uses is noted: a run without that has less in its way.
    noted = Watch(CASE, Play(role, is_role=True), of_extensions=(SkipUnchanged(),))
    watch = changes.pop("watch", noted)
    values: dict[str, Any] = {
        "run_id": run_id,
        "terms": terms_of(watch, is_finalizer=changes.get("is_finalizer", False)),
        "cr": {
            "apiVersion": "test.example.com/v1",
            "kind": "Case",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"work": str(folder), **spec},
        },
        "is_finalizer": False,
        "kubeconfig": folder / "kubeconfig",
        "verbosity": 0,
        "keep_artifacts": 50,
        **changes,
    }
    return RunRequest(**values)


def write(path: Path, text: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


async def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait for a condition; returns what it became."""
    deadline = time.monotonic() + PATIENCE_S
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        await asyncio.sleep(0.01)
    return value


def is_alive(pid: int) -> bool:
    """Whether a process runs; zombies do not."""
    try:
        return state_of(pid) not in "ZX"
    except OSError:
        return False


def state_of(pid: int) -> str:
    """What it is at, as the kernel's letter."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


_NUMBERS = itertools.count()


def own_number() -> str:
    """For a `sleep` that no other test of this machine asks for: `marked` finds its processes alone."""
    return f"9{os.getpid()}{next(_NUMBERS):03}"


def marked(word: str) -> list[int]:
    """Processes with a word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes() and is_alive(int(path.parent.name)):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def descriptors(pid: int | str) -> int:
    """How many descriptors a process has open."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal."""
    os.kill(pid, number)


def debug(message: str) -> dict[str, Any]:
    """A task that says something."""
    return {"name": message, "ansible.builtin.debug": {"msg": message}}


def shell(command: str, **more: Any) -> dict[str, Any]:
    """A task that runs a shell command."""
    return {"name": command[:40], "ansible.builtin.shell": command, **more}


async def spare_of(shop: Workshop) -> int:
    """The child of the host that is ready for the next order."""

    def spares() -> list[int]:
        return [pid for pid in children_of(shop.host_pid) if _name_of(pid) == "rolecall-spare"]

    (pid,) = await until(spares, "a spare process")
    # Only then has it let go of what was the child's in the fork.
    await until(lambda: state_of(shop.host_pid) == "S", "the host to wait for orders")
    return int(pid)


def _name_of(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""
