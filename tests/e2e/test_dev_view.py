"""`rolecall run --dev` at a terminal, wide and narrow, with colours and without."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import PATIENCE_S, ROOT
from tests.e2e.kinds import GROUP, cr, install, kind
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually_async

SHOWN = kind("Shown")
TASKS = """\
- name: Look | say a word
  ansible.builtin.debug:
    msg: "the word is {{ word }}"
- name: Apply | write a file that has a rather long name, so that it does not fit into a narrow terminal
  ansible.builtin.copy:
    content: x
    dest: "{{ ansible_env.HOME | default('/tmp') }}/{{ ansible_operator_meta.name }}-dev-view"
    mode: "0600"
- name: Apply | nothing to do
  ansible.builtin.debug:
  when: false
- name: Check | the word must be good
  ansible.builtin.assert:
    that: word == 'good'
    fail_msg: "the word is {{ word }}, which is a long story to be told to the very last bit: END"
"""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class AtTerminal:
    """A `rolecall run --dev` whose stdout and stderr are one terminal."""

    def __init__(self, folder: Path, width: int, **environment: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        os.set_blocking(self._ours, False)
        self._said = b""
        self._home = tempfile.mkdtemp(prefix="d")
        flags = ["--proxy-port=0", "--role-metrics-port=0", "--metrics-bind-address=0"]
        flags += ["--health-probe-bind-address=0", f"--artifacts-dir={self._home}/artifacts"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rolecall", "run", "--dev", *flags],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            env={
                "PATH": os.environ["PATH"],
                "HOME": self._home,
                "TMPDIR": self._home,
                "TERM": "xterm-256color",
                "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
            }
            | environment,
        )
        os.close(theirs)

    @property
    def said(self) -> str:
        with suppress(BlockingIOError, OSError):
            while piece := os.read(self._ours, 65536):
                self._said += piece
        return self._said.decode(errors="replace").replace("\r\n", "\n")

    @property
    def lines(self) -> list[str]:
        return _COLOUR.sub("", self.said).splitlines()

    def line_with(self, text: str) -> str:
        return next(line for line in self.lines if text in line)

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait(30)
        print(self.said)
        os.close(self._ours)
        shutil.rmtree(self._home)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tasks = tmp_path / "roles" / "shown" / "tasks"
    tasks.mkdir(parents=True)
    (tasks / "main.yml").write_text(TASKS)
    entry = f"- {{group: {GROUP}, version: v1, kind: Shown, role: shown}}\n"
    (tmp_path / "watches.yaml").write_text(entry)
    return tmp_path


@pytest.fixture
def ending() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


async def ran(
    api: Client, cluster: Cluster, namespace: str, view: AtTerminal, word: str, until: str
) -> AtTerminal:
    await install(api, crd_for(SHOWN))
    await api.create(SHOWN, cr(SHOWN, namespace, word=word))

    async def is_told() -> bool:
        await asyncio.sleep(0)
        return any(until in line for line in view.lines)

    await eventually_async(is_told, timeout_s=PATIENCE_S)
    return view


@pytest.mark.parametrize("width", [80, 200])
async def test_each_task_is_a_line_that_fits_and_a_failure_is_told_in_full(
    api: Client,
    cluster: Cluster,
    namespace: str,
    project: Path,
    ending: ExitStack,
    width: int,
) -> None:
    view = AtTerminal(project, width, KUBECONFIG=str(cluster.kubeconfig), WATCH_NAMESPACE=namespace)
    ending.callback(view.end)
    await ran(api, cluster, namespace, view, "bad", "run failed")
    assert "run starts: " in view.line_with(f"Shown {namespace}/x: run starts")
    task = view.line_with("Apply | write a file")
    assert re.search(r"^Shown/x  changed +\d+\.\d s  Apply", task), task
    assert len(task) <= width
    assert ("roles/shown/tasks/main.yml:4" in task) == (width == 200)
    assert re.search(r"skipped +(\d+\.\d s)? +Apply \| nothing", view.line_with("nothing to do"))
    assert view.line_with("    the word is bad")
    assert "failed" in view.line_with("Check | the word")
    assert any(line.rstrip().endswith("very last bit: END") for line in view.lines)
    assert "\x1b[0;31m" in view.said
    assert "\x1b[0;33m" in view.said


async def test_without_colours_nothing_is_coloured(
    api: Client, cluster: Cluster, namespace: str, project: Path, ending: ExitStack
) -> None:
    settings = {"KUBECONFIG": str(cluster.kubeconfig), "WATCH_NAMESPACE": namespace}
    view = AtTerminal(project, 80, NO_COLOR="1", **settings)
    ending.callback(view.end)
    await ran(api, cluster, namespace, view, "good", "run succeeded in")
    assert "\x1b" not in view.said
