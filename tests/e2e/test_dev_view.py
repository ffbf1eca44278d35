"""`rolecall run --dev` at a terminal, wide and narrow, with colours and without."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import PATIENCE_S
from tests.e2e.kinds import GROUP, cr, kind
from tests.e2e.terminal import AtTerminal
from tests.fixtures.crds import crd_for, install
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
    fail_msg: "the word is {{ word }}, which is a long story to be read to the very last bit: END"
"""


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

    async def is_reported() -> bool:
        await asyncio.sleep(0)
        return any(until in line for line in view.lines)

    await eventually_async(is_reported, timeout_s=PATIENCE_S)
    return view


@pytest.mark.parametrize("width", [80, pytest.param(200, marks=pytest.mark.nightly)])
async def test_each_task_is_a_line_that_fits_and_a_failure_is_reported_in_full(
    api: Client,
    cluster: Cluster,
    namespace: str,
    project: Path,
    ending: ExitStack,
    width: int,
) -> None:
    view = AtTerminal(
        ("run", "--dev"),
        project,
        width,
        KUBECONFIG=str(cluster.kubeconfig),
        WATCH_NAMESPACE=namespace,
    )
    ending.callback(view.end)
    await ran(api, cluster, namespace, view, "bad", "run failed")
    assert cluster.url in view.line_with("cluster to work on")
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


@pytest.mark.nightly
async def test_without_colours_nothing_is_coloured(
    api: Client, cluster: Cluster, namespace: str, project: Path, ending: ExitStack
) -> None:
    settings = {"KUBECONFIG": str(cluster.kubeconfig), "WATCH_NAMESPACE": namespace}
    view = AtTerminal(("run", "--dev"), project, 80, NO_COLOR="1", **settings)
    ending.callback(view.end)
    await ran(api, cluster, namespace, view, "good", "run succeeded in")
    assert "\x1b" not in view.said


async def test_saved_file_is_reported_and_its_failed_runs_are_retried(
    api: Client, cluster: Cluster, namespace: str, project: Path, ending: ExitStack
) -> None:
    settings = {"KUBECONFIG": str(cluster.kubeconfig), "WATCH_NAMESPACE": namespace}
    view = AtTerminal(("run", "--dev"), project, 80, **settings)
    ending.callback(view.end)
    await ran(api, cluster, namespace, view, "bad", "run failed")
    tasks = project / "roles" / "shown" / "tasks" / "main.yml"
    tasks.write_text(TASKS.replace("'good'", "'bad'"))

    def are_shown() -> bool:
        # In either order: the run may be repeated before the next look for changed files.
        parts = ("run succeeded", "file changed; ")
        return all(any(part in line for line in view.lines) for part in parts)

    await eventually_async(are_shown, timeout_s=PATIENCE_S)
    assert "file=roles/shown/tasks/main.yml" in view.line_with("file changed; ")
    assert len([line for line in view.lines if "engine started" in line]) == 1
