"""Conditions that ansible-core 2.19 refuses; each was seen to work under 2.18."""

from __future__ import annotations

import pytest
import yaml

from tests.unit.checks.workshop import Workshop, only

TASKS = "roles/demo/tasks/main.yml"


def with_condition(workshop: Workshop, condition: object, keyword: str = "when") -> None:
    task = {"ansible.builtin.debug": {"msg": "x"}, "register": "shown", keyword: condition}
    workshop.write(TASKS, yaml.safe_dump([task], sort_keys=False, width=1000))


@pytest.mark.parametrize(
    ("condition", "reported", "hint"),
    [
        ("names | length", "`names | length` is a number", "`names | length > 0`"),
        ("a is defined and a | length", "`a | length` is a number", "`a | length > 0`"),
        ("a == 1 or (b | default([]) | length)", "is a number", "`b | default([]) | length > 0`"),
        ("'x' in a and 'a == 2'", "`'a == 2'` is text", "is truthy"),
        ("a | regex_search('^x')", "is null or text", "`a is search('^x')`"),
        ("shown.stdout_lines | map('trim') | list", "is a list", "is truthy"),
        ("[1] | intersect(a)", "is a list", "is truthy"),
        ("lookup('env', 'HOME')", "is text", "is truthy"),
        ("a.split(',')", "is a list", "is truthy"),
        ("true if a else ''", "is a boolean or text", "in each branch"),
        ("true if a", "undefined", "with an `else`"),
        ("a ~ 'x'", "is text", "is truthy"),
        (
            "1 == 2,",
            "is not an expression for ansible-core 2.19: chunk after",
            "write one expression",
        ),
        ("{{ a }} == 1", "is put together by templates", "write one expression"),
        ("{{ a }} == {{ b }}", "is put together by templates", "write one expression"),
        ("'x' in {{ a }}", "has a template inside of its expression", "without braces"),
        ("{% if a %}true{% else %}false{% endif %}", "is put together by", "one expression"),
        ("{{ 'a == 1' }}", "is text that a template made", "write `a == 1`"),
        ("{{ a | length }}", "`a | length` is a number", "`a | length > 0`"),
        ("", "`when` is empty", "remove the line"),
        (1, "`when` is `1`", "write true or false"),
        ([{'a == "b': 'c"'}], "`when` is a map", "in quotes"),
    ],
)
def test_condition_that_is_no_boolean_is_an_error(
    workshop: Workshop, condition: object, reported: str, hint: str
) -> None:
    with_condition(workshop, condition)

    error = only(workshop.errors(for_strict_core=True))

    assert error.startswith(TASKS)
    assert reported in error
    assert hint in error
    assert workshop.check().problems == []


@pytest.mark.parametrize(
    ("condition", "reported"),
    [
        ("a | default('')", "`a | default('')` may be text"),
        ("a | default([])", "`a | default([])` may be a list"),
        ("a and b | length", "`b | length` may be a number"),
        ("{{ a }}", "stands in `{{ }}`, which ansible-core 2.23 will refuse"),
        ('a == "{{ b }}"', "has a template in quotes, which ansible-core 2.23 will refuse"),
    ],
)
def test_condition_that_may_be_no_boolean_is_a_warning(
    workshop: Workshop, condition: str, reported: str
) -> None:
    with_condition(workshop, condition)

    assert reported in only(workshop.warnings(for_strict_core=True))
    assert workshop.errors(for_strict_core=True) == []


@pytest.mark.parametrize(
    "condition",
    [
        "a",
        "a.b['c']",
        "not a",
        "a | length > 0",
        "a | bool",
        "a | default(false)",
        "a | default('') | bool",
        "a | default('', true) == 'x'",
        "a is defined and a is truthy",
        "a | my_filter",
        "a | default(omit)",
        "shown.changed",
        "shown is succeeded or shown.failed",
        "a.startswith('x')",
        "a is search('x') and not (b or c)",
        "a and b",
        "a | ternary(true, false)",
        "lookup('my_lookup', 'x')",
        "a == '}}'",
        True,
        None,
        [],
        ["a", "b == 1"],
    ],
)
def test_condition_that_is_fine_or_unknown_is_not_reported(
    workshop: Workshop, condition: object
) -> None:
    with_condition(workshop, condition)

    assert workshop.check(for_strict_core=True).problems == []


@pytest.mark.parametrize("keyword", ["when", "failed_when", "changed_when", "until"])
def test_every_keyword_with_a_condition_is_looked_at(workshop: Workshop, keyword: str) -> None:
    with_condition(workshop, "a | length", keyword)

    assert f"in `{keyword}`" in only(workshop.errors(for_strict_core=True))


def test_assertions_are_conditions_and_lists_of_them_may_be_templates(workshop: Workshop) -> None:
    workshop.write(
        TASKS,
        "- ansible.builtin.assert:\n    that:\n      - a == 1\n      - names | length\n"
        "- assert: {that: '{{ [a == 1] }}'}\n",
    )

    assert only(workshop.errors(for_strict_core=True)).startswith(f"{TASKS}:4: ")


def test_conditions_of_blocks_plays_roles_and_dependencies_are_found(workshop: Workshop) -> None:
    workshop.write(
        "playbooks/book.yml",
        "- hosts: localhost\n"
        "  roles:\n    - {role: demo, when: a | length}\n"
        "  tasks:\n    - block:\n        - debug: {msg: x}\n          when: b | length\n"
        "      rescue: [{debug: {msg: y}, when: c | length}]\n"
        "    - include_tasks: more.yml\n",
    )
    workshop.write("playbooks/more.yml", "- debug: {msg: x}\n  when: d | length\n")
    workshop.write("roles/demo/meta/main.yml", "dependencies: [{role: other, when: e | length}]\n")

    places = {error.split(": ")[0] for error in workshop.errors(for_strict_core=True)}

    assert places == {
        "playbooks/book.yml:3",
        "playbooks/book.yml:7",
        "playbooks/book.yml:8",
        "playbooks/more.yml:2",
        "roles/demo/meta/main.yml:1",
    }


def test_kind_of_a_variable_comes_from_the_crd_and_from_every_place_that_sets_it(
    workshop: Workshop,
) -> None:
    workshop.write("roles/demo/defaults/main.yml", "mode: ''\nflag: ''\nodd: ''\n")
    workshop.write(
        TASKS,
        "- debug: {msg: x}\n  when: image_name\n"  # the CRD says text
        "- debug: {msg: x}\n  when: size\n"  # and a number
        "- debug: {msg: x}\n  when: mode\n"
        "- set_fact: {flag: true, odd: '{{ whatever }}'}\n"
        "- debug: {msg: x}\n  when: flag or odd\n",
    )

    errors = workshop.errors(for_strict_core=True)

    assert [error.split(", and")[0] for error in errors] == [
        f"{TASKS}:2: `image_name` is text",
        f"{TASKS}:4: `size` is a number",
        f"{TASKS}:6: `mode` is text",
    ]


def test_results_of_modules_have_the_kinds_that_are_documented(workshop: Workshop) -> None:
    workshop.write(
        TASKS,
        "- kubernetes.core.k8s_info: {kind: Pod}\n  register: pods\n  until: pods.resources\n"
        "- command: ls\n  register: listed\n  failed_when: listed.rc\n"
        "- debug: {msg: x}\n  when: listed.changed\n",
    )

    errors = workshop.errors(for_strict_core=True)

    assert [error.split(",")[0] for error in errors] == [
        f"{TASKS}:3: `pods.resources` is a list",
        f"{TASKS}:6: `listed.rc` is a number",
    ]


def test_roles_of_a_collection_are_read_where_the_playbook_names_them(workshop: Workshop) -> None:
    role = ".collections/ansible_collections/acme/tools/roles/nested/thing"
    workshop.write(f"{role}/tasks/main.yml", "- debug: {msg: x}\n  when: a | length\n")
    workshop.write(
        "playbooks/book.yml",
        "- hosts: localhost\n  tasks:\n    - import_role: {name: acme.tools.nested.thing}\n",
    )
    other = role.replace("nested/thing", "other")
    workshop.write(f"{role}/meta/main.yml", "dependencies: [acme.tools.other]\n")
    workshop.write(f"{other}/tasks/main.yml", "- debug: {msg: x}\n  when: a | length\n")

    first, second = workshop.errors(for_strict_core=True)
    assert (role in first, other in second) == (True, True)


def test_tasks_that_roles_share_by_a_link_are_read_once(workshop: Workshop) -> None:
    workshop.write("shared/notify.yml", "- debug: {msg: x}\n  when: notes | default(false, true)\n")
    workshop.write(TASKS, "- include_tasks: notify.yml\n  vars: {notes: {a: b}}\n")
    (workshop.folder / "roles/demo/tasks/common").symlink_to(workshop.folder / "shared")
    (workshop.folder / "shared/loop").symlink_to(workshop.folder / "shared")

    error = only(workshop.errors(for_strict_core=True))

    assert "`notes | default(false, true)` is a boolean or a map" in error
