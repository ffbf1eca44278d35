"""`docs/guides/new-operator.md`, as somebody pastes it: in an empty folder, in its order."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from rolecall_dev.localcluster import Binaries
from tests.fixtures.eventually import eventually

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "new-operator.md"
# Why a command is not run.
NOT_RUN = {"ansible-galaxy": "Galaxy cannot be reached everywhere; set-up brought its collections"}
# After this the guide says to type `make run`, and to go on in another terminal.
CLUSTER_IS_UP = "make up"
PATIENCE_S = 120


def commands() -> list[str]:
    """What stands behind `$ ` in the guide."""
    return re.findall(r"^\$ (.*?)(?:\s+#.*)?$", GUIDE.read_text(), re.MULTILINE)


@dataclass
class Terminal:
    """One after the other, with the folder and the variables that the last one left."""

    folder: Path
    scratch: Path
    kubeconfig: str = ""

    @property
    def environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ANSIBLE_", "WATCH_", "KUBE", "MAKE"))
        }
        own = {
            "PATH": f"{Path(sys.executable).parent}:{inherited['PATH']}",
            "ROLECALL_STATE": str(self.scratch / "state"),
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
            # Others on this machine may have the usual ports.
            "ROLECALL_METRICS_BIND_ADDRESS": "0",
            "ROLECALL_HEALTH_PROBE_BIND_ADDRESS": "0",
        }
        given = {"KUBECONFIG": self.kubeconfig} if self.kubeconfig else {}
        return {**inherited, **own, **given}

    def run(self, command: str) -> str:
        after = self.scratch / "after"
        script = f'{command}\ncode=$?\n(pwd; echo "${{KUBECONFIG:-}}") > {after}\nexit $code'
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        folder, self.kubeconfig = after.read_text().splitlines()
        self.folder = Path(folder)
        return done.stdout

    def start(self, command: str) -> subprocess.Popen[bytes]:
        """What stays in the foreground of a terminal of its own."""
        with (self.scratch / "log").open("ab") as log:
            return subprocess.Popen(
                ["bash", "-c", command],
                cwd=self.folder,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def asked_for(file: Path) -> Callable[[], bool]:
    """Whether a play's requests were recorded."""
    return lambda: file.is_file() and file.stat().st_size > 0


def stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    process.wait(60)


@pytest.fixture
def terminal(tmp_path: Path, binaries: Binaries) -> Iterator[Terminal]:
    assert binaries
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    empty = tmp_path / "empty"
    empty.mkdir()
    terminal = Terminal(empty, scratch)
    yield terminal
    terminal.run("rolecall cluster down --all")


def test_guide_leads_from_an_empty_folder_to_a_kind_that_is_ready(terminal: Terminal) -> None:
    with ExitStack() as ending:
        for command in commands():
            program = command.split()[0]
            if program in NOT_RUN:
                continue
            if command.startswith("rolecall run"):
                ending.close()  # the other terminal's engine
                recording = terminal.start(command)
                ending.callback(stop, recording)
                asked = terminal.folder / command.split()[-1]
                eventually(asked_for(asked), timeout_s=PATIENCE_S)
                ending.close()
                continue
            if " get " in command:
                eventually(
                    lambda words=command: terminal.run(words),  # type: ignore[misc]
                    lambda shown: re.search(r"memcached-sample +True", shown),
                    timeout_s=PATIENCE_S,
                )
                continue
            terminal.run(command)
            if command == CLUSTER_IS_UP:
                ending.callback(stop, terminal.start("make run"))
                eventually(
                    lambda: terminal.run(
                        "rolecall cluster kubectl --name memcached-operator get crd"
                    ),
                    lambda shown: "memcacheds.cache.example.com" in shown,
                    timeout_s=PATIENCE_S,
                )
