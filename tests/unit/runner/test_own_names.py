"""Which names a role sets for itself, in each way to set one, and which of them are defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.runner import OwnNames
from rolecall.watches import Play

SET = {
    "a variable": ("vars/main.yml", "target: kube-public\n"),
    "a variable of a system": ("vars/Debian.yaml", "---\n# x\ntarget: 1\n"),
    "a variable in a folder": ("vars/main/more.yml", "target: [1]\n"),
    "a variable in JSON": ("vars/x.json", '{"target": 1}'),
    "a variable beside a vault": ("vars/main.yml", "key: !vault |\n  $ANSIBLE_VAULT\ntarget: x\n"),
    "a registered result": ("tasks/main.yml", "- ping:\n  register: target\n"),
    "one of a handler": ("handlers/main.yml", "- ping:\n  register: target\n"),
    "one in a block": ("tasks/x.yml", "- block:\n  - ping:\n    register: target\n"),
    "one in a rescue": ("tasks/x.yml", "- block: []\n  rescue:\n  - {ping: , register: target}\n"),
    "a fact": ("tasks/main.yml", "- set_fact:\n    target: x\n"),
    "a fact by its full name": ("tasks/main.yml", "- ansible.builtin.set_fact: {target: x}\n"),
    "a fact in short": ("tasks/main.yml", "- set_fact: target=x cacheable=yes\n"),
    "a fact on a condition": ("tasks/m.yml", "- set_fact: {target: x}\n  when: other is defined\n"),
}
DEFAULTS = {
    "a default": ("defaults/main.yml", "target: 1\n"),
    "a fact that keeps what is given": (
        "tasks/main.yml",
        '- set_fact:\n    target: "{{ target | default(3) }}"\n',
    ),
    "a fact where nothing is given": (
        "tasks/main.yml",
        "- set_fact: {target: 3}\n  when: target is not defined\n",
    ),
    "a fact in a block for that": (
        "tasks/main.yml",
        "- when: target is undefined\n  block:\n  - set_fact: target=3\n",
    ),
}
OTHERS = {
    "nothing": ("tasks/main.yml", "- debug: {msg: target}\n"),
    "a variable of a task": ("tasks/main.yml", "- debug: {}\n  vars: {target: 1}\n"),
    "an option of set_fact": ("tasks/main.yml", "- set_fact: {cacheable: true, other: 1}\n"),
    "a broken file": ("vars/main.yml", "target: {\n"),
    "a file of another kind": ("vars/README.md", "target: 1\n"),
}


def role_with(folder: Path, *files: tuple[str, str], name: str = "app") -> Play:
    role = folder / "roles" / name
    for path, text in files:
        (role / path).parent.mkdir(parents=True, exist_ok=True)
        (role / path).write_text(text)
    return Play(role, is_role=True)


@pytest.mark.parametrize("way", SET.values(), ids=SET)
def test_names_that_a_role_sets_are_found_with_their_place(
    tmp_path: Path, way: tuple[str, str]
) -> None:
    place = OwnNames(role_with(tmp_path, way)).place_of("target")
    file, _, line = place.partition(":")
    assert file == f"app/{way[0]}"
    assert "target" in way[1].splitlines()[int(line) - 1]


@pytest.mark.parametrize("way", [*DEFAULTS.values(), *OTHERS.values()], ids=[*DEFAULTS, *OTHERS])
def test_defaults_and_other_mentions_are_not_a_roles_own(
    tmp_path: Path, way: tuple[str, str]
) -> None:
    assert OwnNames(role_with(tmp_path, way)).place_of("target") == ""


@pytest.mark.parametrize("way", SET.values(), ids=SET)
@pytest.mark.parametrize("default", DEFAULTS.values(), ids=DEFAULTS)
def test_a_name_with_a_default_is_meant_to_be_given(
    tmp_path: Path, way: tuple[str, str], default: tuple[str, str]
) -> None:
    (file, text), (folder, _, _name) = default, default[0].partition("/")
    play = role_with(tmp_path, way, (f"{folder}/other.yml", text))
    assert file and OwnNames(play).place_of("target") == ""


def test_names_of_roles_that_it_uses_count_and_those_of_others_do_not(tmp_path: Path) -> None:
    role_with(tmp_path, ("vars/main.yml", "used: 1\n"), name="base")
    role_with(tmp_path, ("vars/main.yml", "unused: 1\n"), name="elsewhere")
    own = OwnNames(role_with(tmp_path, ("meta/main.yml", "dependencies: [base]\n")))
    assert own.place_of("used") == "base/vars/main.yml:1"
    assert own.place_of("unused") == ""


def test_names_of_a_playbook_its_plays_tasks_and_roles_are_found(tmp_path: Path) -> None:
    role_with(tmp_path, ("vars/main.yml", "of_role: 1\n"))
    (tmp_path / "more.yml").write_text("of_file: 1\n")
    playbook = tmp_path / "site.yml"
    playbook.write_text(
        "- hosts: all\n  vars: {of_play: 1}\n  vars_files: [more.yml]\n  roles: [app]\n"
        "  pre_tasks:\n  - {ping: , register: of_task}\n"
    )
    own = OwnNames(Play(playbook, is_role=False))
    places = [own.place_of(f"of_{each}") for each in ("play", "file", "task", "role")]
    assert places == ["site.yml:2", "more.yml:1", "site.yml:6", "app/vars/main.yml:1"]
