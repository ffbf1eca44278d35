"""After a plan, no file, no process and no object is different, whatever the role does."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import pytest

from rolecall.json_object import Json
from rolecall.plan import PlanNote
from rolecall.watches import Play, Watch
from rolecall_dev.localcluster import Cluster
from tests.apiserver.plan.comparison import describe
from tests.apiserver.plan.harness import (
    CASE,
    CONFIG_MAP,
    PlanBench,
    config_map,
    k8s,
    plan_bench,
)
from tests.apiserver.plan.test_nothing_is_kept import audited, between_marks, is_trial, mark
from tests.apiserver.plan.ways_to_act import plugins_of_role, ways_to_act

# Of the runner itself: where runs have their folders, and Ansible its own.
_OF_THE_RUNNER = ("root", "home")


@pytest.mark.nightly
async def test_task_for_another_host_makes_nothing_and_is_unknown(bench: PlanBench) -> None:
    held = await bench.planned(
        [
            {"ansible.builtin.add_host": {"name": "other", "ansible_connection": "local"}},
            {**k8s(config_map("made", bench.namespace)), "delegate_to": "other", "name": "there"},
            {**_debug("{{ lookup('pipe', 'true') }}"), "ignore_errors": True, "name": "looked up"},
            {**_debug("{{ lookup('pipe', 'true') }}"), "when": False, "name": "not reached"},
        ]
    )
    assert held.plan.objects == (), describe(held.plan)
    unknown = [(_task(note), note.what) for note in held.plan.notes if note.kind == "unknown"]
    assert unknown == [
        ("there", "`k8s` is not local: delegated to `other`"),
        ("looked up", "lookup `pipe` runs a program"),
    ]
    assert not await bench.exists(CONFIG_MAP, "made")


@pytest.mark.nightly
async def test_no_way_to_act_changes_anything_and_each_is_unknown(
    own_cluster: Cluster, tmp_path: Path
) -> None:
    log = audited(own_cluster, tmp_path)
    namespace, callbacks = "acting", tmp_path / "callbacks"
    own_cluster.kubectl("create", "namespace", namespace)
    environment = {"ANSIBLE_CALLBACK_PLUGINS": str(callbacks)}
    async with plan_bench(own_cluster, namespace, tmp_path, environment=environment) as bench:
        ways = ways_to_act(bench, callbacks)
        role = bench.shop.role("acting", ways.tasks, **plugins_of_role(ways))
        watch = Watch(gvk=CASE, play=Play(role, is_role=True))
        cr = await bench.cr()
        before, running = _files(tmp_path, log), _programs(tmp_path)
        mark(own_cluster, "begin")
        held = await bench.planned_watch(watch, cr)
        mark(own_cluster, "end")

        assert ways.acted == set()
        assert _files(tmp_path, log) == before
        assert _programs(tmp_path) <= running
        assert [row for row in between_marks(log) if not is_trial(row)] == []
        assert held.plan.objects == (), describe(held.plan)
        unknown = {_task(note) for note in held.plan.notes}
        assert unknown == set(ways.names), describe(held.plan)
        assert {note.kind for note in held.plan.notes} == {"unknown"}

        await held.run()
        assert ways.acted == {*ways.files, "callback"}, "each of them does act"
        made = {item["metadata"]["name"] for item in await bench.client.list_all(CONFIG_MAP)}
        assert made >= set(ways.objects)


def _files(folder: Path, *but: Path) -> dict[str, str]:
    """What is in each file below a folder."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
        if path not in but
        and path.relative_to(folder).parts[0] not in _OF_THE_RUNNER
        and "__pycache__" not in path.parts
    }


def _programs(folder: Path) -> set[str]:
    """What runs and names the folder: each way to act names its mark."""
    lines = set()
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it ended just now
            lines.add(process.read_text(errors="replace").replace("\0", " "))
    return {line for line in lines if str(folder) in line}


def _task(note: PlanNote) -> str:
    """Its name, without the role's."""
    return note.at.task.rpartition(" : ")[2]


def _debug(text: str) -> Json:
    return {"ansible.builtin.debug": {"msg": text}}
