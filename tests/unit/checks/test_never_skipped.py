"""`rolecall check` says what keeps runs of a watch with `skipUnchanged` from being skipped."""

from __future__ import annotations

import pytest

from tests.unit.checks.workshop import WATCHES, Workshop, only

TASKS = "roles/demo/tasks/main.yml"
MANAGER = "config/manager/manager.yaml"
EFFECT = "a run of Demo that does this is never skipped"
EXPLICIT = {"ANSIBLE_GATHERING": "explicit"}


@pytest.fixture(autouse=True)
def skipping(workshop: Workshop) -> None:
    """Demo asks for it, Book does not, and both may keep what that takes."""
    workshop.replace(WATCHES, "  role: demo\n", "  role: demo\n  skipUnchanged: true\n")
    workshop.replace(
        "config/rbac/role.yaml",
        '  - {apiGroups: [""], resources: [events]',
        '  - {apiGroups: [""], resources: [configmaps], verbs: [get, create, patch]}\n'
        '  - {apiGroups: [""], resources: [events]',
    )


def reported(workshop: Workshop, **environment: str) -> list[str]:
    found = workshop.check({**EXPLICIT, **environment}).problems
    assert all(it.is_warning for it in found if it.rule == "never-skipped")
    return [f"{it.file}:{it.line}: {it.what}" for it in found if it.rule == "never-skipped"]


def test_pure_role_has_no_findings(workshop: Workshop) -> None:
    workshop.write(
        TASKS,
        "- k8s: {state: present, definition: {apiVersion: v1, kind: ConfigMap,"
        " metadata: {name: \"{{ 'x' | upper | b64encode }}\"}}}\n"
        "  when: lookup('env', 'TIER') is defined and size is number\n"
        "- k8s_status: {conditions: []}\n"
        "- ansible.builtin.debug: {msg: \"{{ lookup('template', 'text.j2') }}\"}\n"
        "  with_items: [1]\n",
    )
    workshop.write("roles/demo/templates/text.j2", "{% if 3 is odd %}{{ 'a' | quote }}{% endif %}")
    assert reported(workshop) == []


@pytest.mark.parametrize(
    ("task", "what"),
    [
        ("- ansible.builtin.command: 'true'", "action `command` runs a program"),
        ("- name: x\n  shell: 'true'", "action `shell` runs a program"),
        ("- local_thing: {}", "action `local_thing` is not known to be pure"),
        ("- debug: {}\n  async: 5", "`async` leaves a job in the background"),
        ("- debug: {}\n  delegate_to: other", "the task runs on another machine"),
        ("- debug: {}\n  become: true", "`become` changes the user"),
        ("- debug: {}\n  with_pipe: ls", "lookup `pipe` runs a program"),
        ("- k8s_info: {kind: Pod, host: x}", "`k8s_info` with `host` may ask another API server"),
        ("- operator_sdk.util.requeue_after: {time: 5s}", "`requeue_after` asks for another run"),
        ("- debug: {msg: '{{ now() }}'}", "function `now` reads the clock"),
        ("- debug: {msg: '{{ 9 | random }}'}", "filter `random` answers by chance"),
        ("- debug: {}\n  when: \"'/etc' is directory\"", "test `directory` looks at files"),
        ("- debug: {msg: \"{{ lookup('password', 'x') }}\"}", "lookup `password` writes files"),
        ("- debug: {msg: '{{ 1 | of.our.own }}'}", "filter `of.our.own` is not known to be pure"),
    ],
)
def test_impure_task_is_reported_with_its_line(workshop: Workshop, task: str, what: str) -> None:
    workshop.write(TASKS, f"- debug: {{msg: hello}}\n{task}\n")
    line = only(reported(workshop))
    assert line.startswith((f"{TASKS}:2: {what}", f"{TASKS}:3: {what}"))
    assert line.endswith(EFFECT)


def test_templates_and_included_roles_are_looked_at_and_other_roles_are_not(
    workshop: Workshop,
) -> None:
    workshop.write(TASKS, "- include_role: {name: part}\n")
    workshop.write("roles/part/tasks/main.yml", "- debug: {}\n")
    workshop.write("roles/part/templates/t.j2", "one\n{{ template_run_date }}\n")
    workshop.write("roles/other/tasks/main.yml", "- command: 'true'\n")
    what = "`template_run_date` depends on a file or the time"
    assert only(reported(workshop)) == f"roles/part/templates/t.j2:2: {what}: {EFFECT}"


def test_watch_without_skip_has_no_findings(workshop: Workshop) -> None:
    workshop.replace(WATCHES, "skipUnchanged: true", "skipUnchanged: false")
    workshop.write(TASKS, "- command: 'true'\n")
    assert reported(workshop) == []


def test_gathered_facts_are_reported_until_the_deployment_says_explicit(
    workshop: Workshop,
) -> None:
    line = only(reported(workshop, ANSIBLE_GATHERING="implicit"))
    assert line.startswith(f"{WATCHES}:1: facts of the machine are gathered")
    workshop.write(MANAGER, "env: [{name: ANSIBLE_GATHERING, value: explicit}]\n")
    assert reported(workshop, ANSIBLE_GATHERING="implicit") == []


def test_all_is_reported_at_once(workshop: Workshop) -> None:
    workshop.write(TASKS, "- command: 'true'\n- uri: {url: x}\n- debug: {msg: '{{ now() }}'}\n")
    assert len(reported(workshop)) == 3
