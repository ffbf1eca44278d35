"""An object is deleted only if the task that made it ran to its end and did not want it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rolecall.extensions.prune import Prune, read_inventory, would_prune
from rolecall.extensions.prune.lenient_lookups import lenient_lookup_in
from rolecall.record import RecordedRequest, RecordedTask
from rolecall.watches import Play
from tests.unit.extensions.prune.worlds import TASKS, asked, inventory, looked, touched, watch

K8S_TASK = TASKS[0]
INCLUDE = replace(K8S_TASK, name="include", action="ansible.builtin.include_tasks")


def kept(
    tasks: Sequence[RecordedTask],
    *requests: RecordedRequest,
    made_by: RecordedTask = K8S_TASK,
    prune: Prune = Prune(),  # noqa: B008 - frozen
) -> list[str]:
    """Why the object that a task made stays after a run with these tasks; empty: it is deleted."""
    old = inventory(asked("create", "x"), tasks=[made_by])
    found = would_prune(old, touched(*requests, tasks=tasks), watch(prune))
    return [each.kept for each in found]


def test_task_that_ran_to_its_end_and_did_not_ask_for_the_object_releases_it() -> None:
    moved = replace(K8S_TASK, place="roles/shelf/tasks/main.yml:77", outcome="changed")
    assert kept([K8S_TASK]) == kept([moved]) == [""]
    # A loop without items is skipped, and at its end.
    assert kept([replace(K8S_TASK, outcome="skipped")]) == [""]


@pytest.mark.parametrize(
    ("tasks", "why"),
    [
        ([], "the run did not reach task"),
        ([replace(K8S_TASK, name="another")], "the run did not reach task"),
        ([replace(K8S_TASK, place="other.yml:1")], "the run did not reach task"),
        ([replace(K8S_TASK, outcome="skipped", left_out=True)], "a condition skipped task"),
        ([replace(K8S_TASK, left_out=True)], "a condition skipped task"),  # an item of it
        ([K8S_TASK, replace(K8S_TASK, left_out=True)], "a condition skipped task"),
        ([replace(K8S_TASK, outcome="")], "a condition skipped task"),
    ],
)
def test_task_that_was_skipped_or_not_reached_holds_its_objects(
    tasks: list[RecordedTask], why: str
) -> None:
    (found,) = kept(tasks)
    assert found.startswith(why)


@pytest.mark.parametrize(
    "action",
    [
        "kubernetes.core.helm",
        "ansible.builtin.command",
        "shell",
        "script",
        "acme.cloud.app",
        "kubernetes.core.helm_template",
    ],
)
def test_task_whose_program_may_keep_state_holds_unless_it_is_listed(action: str) -> None:
    task = replace(K8S_TASK, action=action, name="install")
    (found,) = kept([task], made_by=task)
    assert found == f"`{action}` of task `install` may keep state of its own; see `prune.tasks`"
    listed = Prune(tasks=frozenset({"install"}))
    assert kept([task], made_by=task, prune=listed) == [""]
    skipped = replace(task, left_out=True)
    assert kept([skipped], made_by=task, prune=listed) != [""]


@pytest.mark.parametrize("action", ["k8s", "kubernetes.core.k8s", "community.okd.k8s"])
def test_modules_that_ask_for_each_object_in_each_run_need_no_listing(action: str) -> None:
    task = replace(K8S_TASK, action=action)
    assert kept([task], made_by=task) == [""]


def test_task_that_was_skipped_still_counts_after_another_task_wrote_the_object() -> None:
    other = replace(K8S_TASK, name="other")
    skipped = replace(K8S_TASK, outcome="skipped", left_out=True)
    old = inventory(asked("create", "x"), tasks=[K8S_TASK])
    both = inventory(asked("patch", "x"), old=old, tasks=[other, skipped])
    assert [task.name for task in both.entries[0].tasks] == ["other", K8S_TASK.name]
    (found,) = would_prune(both, touched(tasks=[other, skipped]), watch())
    assert found.kept
    alone = inventory(asked("patch", "x"), old=both, tasks=[other, K8S_TASK])
    assert [task.name for task in alone.entries[0].tasks] == ["other"]


@pytest.mark.parametrize(
    ("arguments", "is_held"),
    [
        ("_raw_params=shelf.yml", True),
        ("file=more/shelf.yaml", True),
        ("name=site", True),
        ("name=acme.sites.site, tasks_from=other", True),
        ("_raw_params={{ what }}.yml", True),
        ("", True),
        ("_raw_params=backup.yml", False),
        ("name=backup", False),
    ],
)
def test_include_that_was_skipped_holds_what_it_may_include(arguments: str, is_held: bool) -> None:
    """A loop of includes may run the task for one item, and leave it out for another."""
    task = replace(K8S_TASK, place="roles/site/tasks/shelf.yml:4")
    include = replace(INCLUDE, left_out=True, includes=arguments or "?")
    (found,) = kept([include, task], made_by=task)
    assert bool(found) is is_held


@pytest.mark.parametrize("code", [401, 403, 429, 500, 503, 0])
@pytest.mark.parametrize(
    "request_",
    [
        asked("list"),
        looked("y"),
        asked("patch", "y"),
        asked("get", resource="", path="/apis/metrics.k8s.io/v1beta1"),
    ],
)
def test_refused_answer_makes_what_a_run_wants_unknown(
    request_: RecordedRequest, code: int
) -> None:
    assert touched(replace(request_, code=code)).unknown
    assert not touched(replace(request_, code=200)).unknown


@pytest.mark.parametrize("code", [409, 422, 400])
def test_object_whose_write_was_refused_is_wanted(code: int) -> None:
    old = inventory(asked("create", "x"))
    assert would_prune(old, touched(asked("patch", "x", code=code, uid="")), watch()) == ()
    after = inventory(asked("patch", "x", code=code, uid=""), old=old)
    assert after.entries == old.entries


def test_object_that_two_api_groups_serve_is_one() -> None:
    old = inventory(asked("create", "x", group="extensions", resource="ingresses"))
    renamed = looked("x", group="networking.k8s.io", resource="ingresses")
    assert would_prune(old, touched(renamed), watch()) == ()


def test_inventory_of_an_earlier_release_is_read_and_holds_until_its_tasks_are_known() -> None:
    text = '[1,"cr",[["","v1","ConfigMap","configmaps","a","x","uid-x",false]]]'
    old = read_inventory(text)
    assert old is not None
    (found,) = would_prune(old, touched(), watch())
    assert found.kept == "the task that made it is not known"
    assert would_prune(inventory(looked("x"), old=old), touched(), watch())[0].kept == ""


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("x: \"{{ lookup('url', 'http://a', errors='ignore') }}\"", True),
        ("x: \"{{ query('k8s', kind='Node', errors=\\\"warn\\\") }}\"", True),
        ("x: >-\n  {{ q('url', 'http://a',\n  errors=mode) }}", True),
        ("x: \"{{ lookup('url', 'http://a', errors='strict') }}\"", False),
        ("x: \"{{ lookup('url', 'http://a') }}\"", False),
        ("errors: ignore", False),
    ],
)
def test_lookup_that_takes_a_failure_for_an_empty_answer_is_found(
    tmp_path: Path, text: str, is_found: bool
) -> None:
    role = tmp_path / "roles" / "shelf"
    (role / "tasks").mkdir(parents=True)
    other = tmp_path / "roles" / "other" / "defaults"
    other.mkdir(parents=True)
    (role / "tasks" / "main.yml").write_text("- import_role:\n    name: common\n")
    (other / "main.yml").write_text("x: \"{{ lookup('url', 'a', errors='ignore') }}\"")
    play: Any = Play(role, is_role=True)
    assert lenient_lookup_in(play) == ""  # a role that this one does not use
    common = tmp_path / "roles" / "common" / "defaults"
    common.mkdir(parents=True)
    (common / "main.yml").write_text(f"# first\n{text}\n")
    assert lenient_lookup_in(play).startswith("common/defaults/main.yml:") is is_found
