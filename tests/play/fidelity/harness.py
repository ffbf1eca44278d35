"""Runs one group of cases the stock way and the warm way, and makes both comparable.

Where the outcome of the stock run is recorded, only the warm way is run, see `recorded`.

What a group is, and how two runs of it are compared, is the package's (`runner/warm/proof`): a host
that meets an unknown ansible-core proves itself in the same manner.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pytest
from ansible.parsing.vault import VaultLib, VaultSecret

from rolecall.clock import SystemClock
from rolecall.extensions.skip import SkipUnchanged
from rolecall.gvk import Gvk
from rolecall.runner import Runner, RunRequest, terms_of
from rolecall.runner.stock import StockRunner
from rolecall.runner.warm import HostLimits, Hosts, WarmRunner
from rolecall.runner.warm.proof.groups import (
    CaseGroup,
    GroupOutcome,
    differing,
    groups_in,
    outcome_of,
    write_project,
)
from rolecall.runner.warm.proof.normal import Normal, Words
from rolecall.settings import RunnerSettings
from rolecall.watches import Play, Watch
from tests.play.fidelity.recorded import ROOT, Recorded

CASES = Path(__file__).parent / "cases"
COLLECTIONS = ROOT / ".collections"
WAYS = ("stock", "warm")
# What differs by chance is equal the next time; what the warm way does otherwise, never is. Each repeat
# counts: with more than a handful of them it is no longer chance.
_REPEATS, MOST_REPEATED = 2, 5
# Where a Linux machine has its programs.
_PROGRAMS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_T = TypeVar("_T")


@dataclass
class ReadyRun:
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
    async def ready_run(
        self, _group: CaseGroup, request: RunRequest, words: Words
    ) -> AsyncIterator[ReadyRun]:
        """Hold for the length of one run."""
        yield ReadyRun(request, Normal(words))

    async def world(self, _group: CaseGroup, _way: str, _normal: Normal) -> Any:
        """What the runs of one way made of what is around them."""
        return None


def groups(folder: Path = CASES) -> list[CaseGroup]:
    """Every group, in the order of the files."""
    return groups_in(folder)


class Both:
    """A stock and a warm runner on a loop of their own; what ran once is remembered."""

    def __init__(
        self,
        root: Path,
        recorded: Recorded,
        around: Surroundings | None = None,
        *,
        is_recording: bool = False,
    ) -> None:
        self._root = root
        self._recorded = recorded
        self._is_recording = is_recording
        self._around = around or Surroundings()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fidelity", daemon=True)
        self._thread.start()
        # Groups of one configuration seldom follow each other.
        self._hosts = Hosts(SystemClock(), HostLimits(start_wait_s=120, stay_s=0))
        self._done: dict[str, dict[str, GroupOutcome] | Exception] = {}
        self._count = 0
        self.repeated: list[str] = []  # groups that were not equal the first time
        self.anew: dict[str, str] = {}  # groups whose stock run was made, and why
        for name in ("tmp", "home"):
            (root / name).mkdir()
        self._call(self._around.open())

    def outcomes(self, group: CaseGroup) -> dict[str, GroupOutcome]:
        """The group's outcome by way; what could not be run is not tried for each case again."""
        if group.name not in self._done:
            try:
                # Plays inherit the environment of the engine: here one that is the same everywhere.
                with patch.dict(os.environ, engine_environment(self._root), clear=True):
                    self._done[group.name] = self._call(self._run_until_equal(group))
            except Exception as error:
                self._done[group.name] = error
        done = self._done[group.name]
        if isinstance(done, Exception):
            raise done
        return done

    def run_chosen(self, items: Sequence[pytest.Item], of: Sequence[CaseGroup]) -> None:
        """Run the groups of tests that were chosen; hosts live from here to the end of all."""
        calls = [item.callspec for item in items if hasattr(item, "callspec")]
        chosen = {getattr(call.params.get("group"), "name", "") for call in calls}
        for group in of:
            if group.name in chosen:
                with contextlib.suppress(Exception):  # reported by each of its tests
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

    async def _run_until_equal(self, group: CaseGroup) -> dict[str, GroupOutcome]:
        """Ansible prints from two threads: now and then it says the same in another order."""
        outcomes = await self._run_first(group)
        for _ in range(_REPEATS):
            if not list(differing(group, outcomes["stock"], outcomes["warm"])):
                break
            self.repeated.append(group.name)
            outcomes = await self._run_both(group)
        return outcomes

    async def _run_first(self, group: CaseGroup) -> dict[str, GroupOutcome]:
        """The warm way alone, where that is as the recorded stock run was."""
        conditions = conditions_of(group)
        stock = "recording" if self._is_recording else self._recorded.find(group, conditions)
        if isinstance(stock, str):
            self.anew[group.name] = stock
            outcomes = await self._run_both(group)
            if self._is_recording and not list(differing(group, *outcomes.values())):
                self._recorded.keep(group, conditions, outcomes["stock"])
            return outcomes
        folder = self._folder(group)
        warm = await self._run(group, "warm", folder)
        if different := list(differing(group, stock, warm)):
            self.anew[group.name] = f"the warm run was not as recorded: {', '.join(different)}"
            stock = await self._run(group, "stock", folder)
        return {"stock": stock, "warm": warm}

    async def _run_both(self, group: CaseGroup) -> dict[str, GroupOutcome]:
        folder = self._folder(group)
        # Side by side: a stock run leaves one of two processors idle most of the time.
        both = [self._run(group, way, folder) for way in WAYS]
        return dict(zip(WAYS, await asyncio.gather(*both), strict=True))

    def _folder(self, group: CaseGroup) -> Path:
        """With a project in it, for one run of each way."""
        self._count += 1
        folder = self._root / f"{self._count:03}-{group.name}"
        write_project(folder / "project", group, _vaulted(group))
        return folder

    async def _run(self, group: CaseGroup, way: str, folder: Path) -> GroupOutcome:
        settings = settings_of(group, folder)
        stock = StockRunner(settings)
        runner: Runner = WarmRunner(settings, stock, hosts=self._hosts) if way == "warm" else stock
        work = folder / f"work-{way}"
        work.mkdir()
        for repeat in range(int(group.data.get("repeat", 1))):
            request = _request(group, way, folder, work, repeat)
            words = [
                *((str(work), "<work>"), (f"/{way}/", "/<way>/"), (request.run_id, "<run>")),
                *((str(folder), "<folder>"), (str(self._root), "<root>")),
                *((str(ROOT), "<clone>"), (sys.prefix, "<environment>")),
            ]
            async with self._around.ready_run(group, request, words) as ready:
                handle = await runner.start(ready.request, lambda _event: None)
                result = await handle.result()
                world = await self._around.world(group, way, ready.normal)
        await stock.close()
        return outcome_of(result, ready.normal, work, world)


def settings_of(group: CaseGroup, folder: Path) -> RunnerSettings:
    """Those of the group's runs in this folder."""
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


def conditions_of(group: CaseGroup) -> str:
    """Settings and environment of its runs, in words that are the same in every clone."""
    root = Path("/root-of-runs")
    settings = asdict(settings_of(group, root / "group"))
    conditions = json.dumps([settings, engine_environment(root)], sort_keys=True, default=str)
    return conditions.replace(str(ROOT), "<clone>").replace(sys.prefix, "<environment>")


def engine_environment(root: Path) -> dict[str, str]:
    """All that the engine would inherit: nothing of the machine, of pytest or of `make`."""
    programs = [Path(sys.prefix) / "bin", *_PROGRAMS]
    return {
        "PATH": ":".join(map(str, programs)),
        "HOME": str(root / "home"),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",  # as in the image: what a plugin prints comes before what follows it
    }


def _environment(asked: dict[str, str], folder: Path) -> dict[str, str]:
    # What background jobs need outlives their run, so it goes where it is removed with all else.
    temporary, home = str(folder.parent / "tmp"), str(folder.parent / "ansible-home")
    quiet = {"ANSIBLE_HOME": home, "TMPDIR": temporary, "LC_ALL": "C.UTF-8"}
    named = {key: value.replace("PROJECT", str(folder / "project")) for key, value in asked.items()}
    return quiet | named


def _request(group: CaseGroup, way: str, folder: Path, work: Path, repeat: int) -> RunRequest:
    watch = Watch(
        gvk=Gvk("test.example.com", "v1", "Case"),
        play=Play(folder / "project" / "playbook.yml", is_role=False),
        of_extensions=(SkipUnchanged(),),  # what is used is noted: as much as ever is in the way
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
        terms=terms_of(watch),
        cr=cr,
        is_finalizer=False,
        kubeconfig=folder / "kubeconfig",
        verbosity=int(group.data.get("verbosity", 0)),
        keep_artifacts=0,
        timeout_s=900,
    )


def _vaulted(group: CaseGroup) -> dict[str, str]:
    return {
        name: VaultLib().encrypt(text, VaultSecret(b"let me in")).decode()
        for name, text in group.data.get("vault", {}).items()
    }
