from __future__ import annotations

import pytest

from tests.unit.checks.workshop import WATCHES, Workshop, only


def test_project_in_order_has_no_findings(workshop: Workshop) -> None:
    found = workshop.check()

    assert [str(problem) for problem in found.problems] == []
    assert found.notes == []


def test_faults_of_the_watches_file_are_reported_and_the_rest_is_left(workshop: Workshop) -> None:
    workshop.replace(WATCHES, "role: demo", "role: gone")
    workshop.remove("roles/demo/tasks/main.yml")

    found = workshop.check()

    assert "role: gone was not found" in only([str(problem) for problem in found.problems])
    assert "were not checked" in only(found.notes)


def test_warnings_of_the_watches_file_are_reported(workshop: Workshop) -> None:
    workshop.replace(WATCHES, "  role: demo", "  role: demo\n  maxWorkers: 3")

    assert "`maxWorkers` has no effect" in only(workshop.warnings())


def test_role_without_tasks_is_an_error(workshop: Workshop) -> None:
    workshop.remove("roles/demo/tasks/main.yml")
    workshop.write("roles/demo/tasks/other.yml", "[]")

    assert "roles/demo: has no tasks/main.yml" in only(workshop.errors())


def test_empty_tasks_are_fine(workshop: Workshop) -> None:
    workshop.write("roles/demo/tasks/main.yml", "---\n")

    assert workshop.errors() == []


def test_broken_yaml_is_reported_with_file_and_line(workshop: Workshop) -> None:
    workshop.write("roles/demo/tasks/install.yml", "- name: a\n  debug: {\n- b\n")

    assert only(workshop.errors()).startswith("roles/demo/tasks/install.yml:3: is not valid YAML")


def test_tasks_that_are_no_list_are_an_error(workshop: Workshop) -> None:
    workshop.write("roles/demo/tasks/main.yml", "debug:\n  msg: x\n")

    assert "roles/demo/tasks/main.yml:1: must be a list of tasks" in only(workshop.errors())


def test_task_that_is_no_map_is_reported_with_its_line(workshop: Workshop) -> None:
    workshop.write("roles/demo/handlers/main.yml", "- debug: {}\n- restart\n")

    assert "roles/demo/handlers/main.yml:2: a task must be a map" in only(workshop.errors())


def test_defaults_that_are_no_map_are_an_error(workshop: Workshop) -> None:
    workshop.write("roles/demo/defaults/main.yml", "- demo_size\n")

    assert "roles/demo/defaults/main.yml:1: must be a map" in workshop.errors()


def test_role_of_a_finalizer_is_checked_too(workshop: Workshop) -> None:
    workshop.replace(WATCHES, "vars: {state: absent}", "role: farewell")
    workshop.replace("roles/demo/meta/argument_specs.yml", "      state: {type: str}\n", "")
    workshop.write("roles/farewell/tasks/main.yml", "x: y")

    assert "roles/farewell/tasks/main.yml:1" in only(workshop.errors())


def test_playbook_that_is_no_list_is_an_error(workshop: Workshop) -> None:
    workshop.write("playbooks/book.yml", "hosts: localhost\n")

    assert "playbooks/book.yml:1: must be a list of plays" in only(workshop.errors())


def test_play_without_hosts_is_reported_with_its_line(workshop: Workshop) -> None:
    workshop.write("playbooks/book.yml", "- hosts: all\n- tasks: []\n")

    assert "playbooks/book.yml:2: a play must be a map with `hosts`" in only(workshop.errors())


def test_broken_playbook_is_reported_once(workshop: Workshop) -> None:
    workshop.write("playbooks/book.yml", "- hosts: {\n")

    assert "playbooks/book.yml:2: is not valid YAML" in only(workshop.errors())


def test_text_that_is_not_utf8_is_reported(workshop: Workshop) -> None:
    (workshop.folder / "roles/demo/tasks/main.yml").write_bytes(b"- \xff\n")

    assert "roles/demo/tasks/main.yml: could not be read" in only(workshop.errors())


@pytest.mark.parametrize("before", ["/opt/ansible/", "/anywhere/", "/"])
def test_absolute_path_of_the_image_is_looked_up_in_the_project(
    workshop: Workshop, before: str
) -> None:
    workshop.replace(WATCHES, "role: demo", f"role: {before}roles/demo")
    workshop.replace(WATCHES, "playbooks/book.yml", f"{before}playbooks/book.yml")
    assert workshop.errors() == []
    workshop.replace(WATCHES, f"{before}roles/demo", f"{before}roles/other")
    assert f"role: {before}roles/other was not found" in only(workshop.errors())
