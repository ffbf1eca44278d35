"""`rolecall check` notes plays that gather facts of the machine which nothing uses."""

from __future__ import annotations

import pytest

from tests.unit.checks.workshop import Workshop

PLAYBOOK = "playbooks/book.yml"
TASK = "  tasks:\n  - ansible.builtin.debug: {msg: '%s'}\n"


def notes(workshop: Workshop, **environment: str) -> list[str]:
    return [note for note in workshop.check(environment).notes if "facts of the machine" in note]


def test_playbook_that_gathers_unused_facts_gets_the_hint(workshop: Workshop) -> None:
    workshop.write(PLAYBOOK, "- hosts: localhost\n" + TASK % "{{ ansible_operator_meta.name }}")
    (note,) = notes(workshop)
    assert note.startswith(f"{PLAYBOOK}:1: facts of the machine are gathered in each run")
    assert "`gather_facts: false`" in note


@pytest.mark.parametrize(
    "text",
    ["{{ ansible_facts.os_family }}", "{{ ansible_date_time.iso8601 }}", "{{ hostvars }}"],
)
def test_playbook_that_uses_facts_gets_no_hint(workshop: Workshop, text: str) -> None:
    workshop.write(PLAYBOOK, "- hosts: localhost\n" + TASK % text)
    assert notes(workshop) == []


@pytest.mark.parametrize("value", ["false", "no"])
def test_playbook_that_gathers_no_facts_gets_no_hint(workshop: Workshop, value: str) -> None:
    head = f"- hosts: localhost\n  gather_facts: {value}\n"
    workshop.write(PLAYBOOK, head + TASK % "x")
    assert notes(workshop) == []


def test_facts_that_a_role_of_the_playbook_uses_are_no_hint(workshop: Workshop) -> None:
    workshop.write(PLAYBOOK, "- hosts: localhost\n  roles: [demo]\n")
    workshop.write("roles/demo/templates/t.j2", "{{ ansible_hostname }}\n")
    assert notes(workshop) == []


def test_playbook_with_a_role_from_elsewhere_gets_no_hint(workshop: Workshop) -> None:
    workshop.write(PLAYBOOK, "- hosts: localhost\n  roles: [a.b.c]\n")
    assert notes(workshop) == []


def test_no_hint_where_ansible_gathering_is_explicit(workshop: Workshop) -> None:
    workshop.write(PLAYBOOK, "- hosts: localhost\n" + TASK % "x")
    assert notes(workshop, ANSIBLE_GATHERING="explicit") == []
