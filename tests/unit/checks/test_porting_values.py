"""Values that are another kind from ansible-core 2.19 on; each was seen to differ."""

from __future__ import annotations

import pytest

from tests.unit.checks.workshop import Workshop, only

TASKS = "roles/demo/tasks/main.yml"

DEPLOYMENT = """\
- kubernetes.core.k8s:
    definition:
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        annotations: {example.com/size: "VALUE"}
      spec:
        replicas: "{{ size | int }}"
        template:
          spec:
            containers:
              - name: a
                args: ["--size", "VALUE"]
                env: [{name: SIZE, value: "VALUE"}]
                ports: [{containerPort: "{{ port | int }}"}]
"""


@pytest.mark.parametrize("value", ["{{ size | int }}", "{{ a | length }}", "{{ size + 1 }}"])
def test_number_where_kubernetes_wants_text_is_an_error(workshop: Workshop, value: str) -> None:
    workshop.write(TASKS, DEPLOYMENT.replace("VALUE", value))

    errors = workshop.errors(for_strict_core=True)

    assert [error.split(" is a number")[0] for error in errors] == [
        f"{TASKS}:6: `example.com/size`",
        f"{TASKS}:13: `1`",
        f"{TASKS}:14: `value`",
    ]
    assert all("`| string`" in error for error in errors)


@pytest.mark.parametrize(
    "value",
    [
        "{{ size }}",  # a number under either: nothing changes
        "{{ whatever }}",
        "{{ size | int | string }}",
        "{{ size | int }}Gi",
        "{{ a | bool }}",
        "5",
    ],
)
def test_text_or_what_never_worked_is_not_reported(workshop: Workshop, value: str) -> None:
    workshop.write(TASKS, DEPLOYMENT.replace("VALUE", value))

    assert workshop.check(for_strict_core=True).problems == []


def test_numbers_in_a_config_map_are_reported_and_in_other_data_are_not(workshop: Workshop) -> None:
    workshop.write(
        TASKS,
        "- k8s:\n    definition:\n"
        "      - {kind: ConfigMap, data: {a: '{{ b | int }}'}}\n"
        "      - {kind: Thing, data: {a: '{{ b | int }}'}}\n",
    )

    assert only(workshop.errors(for_strict_core=True)).startswith(f"{TASKS}:3: `a` is a number")


def test_number_in_a_map_that_a_template_makes_is_reported_where_the_map_is_used(
    workshop: Workshop,
) -> None:
    workshop.write("roles/demo/vars/main.yml", "seen: '{{ cr.generation | default(1) | int }}'\n")
    workshop.write(
        TASKS,
        "- include_tasks: annotate.yml\n  vars: {notes: \"{{ {'seen': seen, 'b': a | int} }}\"}\n",
    )
    workshop.write(
        "roles/demo/tasks/annotate.yml",
        "- k8s:\n    definition:\n      metadata:\n        annotations: '{{ notes }}'\n",
    )

    error = only(workshop.errors(for_strict_core=True))

    assert error.startswith("roles/demo/tasks/annotate.yml:4: `seen` in `annotations` is a number")


@pytest.mark.parametrize(
    ("template", "hint"),
    [
        ("{{ 'step ' + step }}", "`~` instead of `+`"),
        ("{{ step | length }}", "`step | string | length`"),
        ("{{ step.split('.') }}", "`(step | string).split(...)`"),
        ("{{ step == '1' }}", "compare with a number"),
        ("{{ step in '123' }}", "`step | string`"),
        ("{{ gone | b64encode }}", "`gone | default('', true) | b64encode`"),
        ("{{ gone == '' }}", "compare with null"),
    ],
)
def test_text_operation_on_what_is_a_number_or_null_now_is_an_error(
    workshop: Workshop, template: str, hint: str
) -> None:
    workshop.write(
        TASKS,
        "- set_fact:\n    step: '{{ a | int + 1 }}'\n    gone: '{{ none }}'\n"
        f'- debug:\n    msg: "{template}"\n',
    )

    error = only(workshop.errors(for_strict_core=True))

    assert error.startswith(f"{TASKS}:5: ")
    assert hint in error


@pytest.mark.parametrize(
    "template",
    ["{{ 'step ' ~ step }}", "{{ step | int + 1 }}", "{{ step == 1 }}", "{{ step | trim }}"],
)
def test_operation_that_works_on_numbers_is_not_reported(workshop: Workshop, template: str) -> None:
    workshop.write(
        TASKS,
        f"- set_fact: {{step: '{{{{ a | int + 1 }}}}'}}\n- debug:\n    msg: \"{template}\"\n",
    )

    assert workshop.check(for_strict_core=True).problems == []


@pytest.mark.parametrize(
    ("task", "reported"),
    [
        ("debug: {msg: \"{{ 'x' if a }}\"}", "`if` without `else`"),
        ("debug: {msg: \"{{ ('x' if a) | default('y') }}\"}", "`if` without `else`"),
        ('debug: {msg: x}\n  loop: "[{{ a }}]"', "`loop` is text"),
        ("debug: {msg: x}\n  with_items: '[{{ a }}]'", "`with_items` is text"),
        ('debug: {msg: x}\n  loop: "{{ range(0, a) }}"', "add `| list`"),
    ],
)
def test_template_that_ends_at_nothing_usable_is_an_error(
    workshop: Workshop, task: str, reported: str
) -> None:
    workshop.write(TASKS, f"- {task}\n")

    assert reported in only(workshop.errors(for_strict_core=True))


@pytest.mark.parametrize(
    "task",
    [
        "debug: {msg: \"a {{ 'x' if a }}\"}",
        "debug: {msg: \"{{ 'x' if a else omit }}\"}",
        'debug: {msg: x}\n  loop: "{{ range(0, a) | list }}"',
        'debug: {msg: x}\n  loop: ["{{ a }}"]',
        "debug: {msg: \"{{ ['x' if a else 'y'] }}\"}",
        "debug: {msg: '[{{ b }}]'}\n  vars: {b: \"{{ 'x' if a }}\", c: '{{ range(0, a) }}'}",
    ],
)
def test_template_that_works_under_both_is_not_reported(workshop: Workshop, task: str) -> None:
    workshop.write(TASKS, f"- {task}\n")

    assert workshop.check(for_strict_core=True).problems == []


def test_text_that_looked_like_a_list_or_a_map_is_a_warning(workshop: Workshop) -> None:
    workshop.write(
        "roles/demo/defaults/main.yml",
        "ports: '[{% for p in a %}{{ p }},{% endfor %}]'\nplain: '[1]'\n",
    )
    workshop.write(TASKS, '- set_fact:\n    chosen: |\n      {"name": "{{ a }}"}\n')

    warnings = workshop.warnings(for_strict_core=True)

    assert [warning.split(" from")[0] for warning in warnings] == [
        "roles/demo/defaults/main.yml:1: warning: `ports` is text",
        f"{TASKS}:2: warning: `chosen` is text",
    ]


def test_loop_over_a_variable_that_is_text_now_is_an_error(workshop: Workshop) -> None:
    workshop.write(
        TASKS,
        "- set_fact:\n    old: |\n      [\n      {% for a in pods %}\n      '{{ a }}',\n"
        "      {% endfor %}\n      ]\n- debug: {msg: x}\n  with_items: '{{ old }}'\n",
    )

    assert "`with_items` is text" in only(workshop.errors(for_strict_core=True))


def test_settings_that_mean_nothing_any_more_are_warnings(workshop: Workshop) -> None:
    workshop.write("ansible.cfg", "[defaults]\n# jinja2_native = true\njinja2_native = true\n")
    workshop.write("Dockerfile", "FROM x\nENV ANSIBLE_JINJA2_NATIVE=true\n")

    warnings = workshop.warnings(for_strict_core=True)

    assert [warning.split(" has no effect")[0] for warning in warnings] == [
        "Dockerfile:2: warning: `jinja2_native`",
        "ansible.cfg:3: warning: `jinja2_native`",
    ]


EMPTY = {
    "a branch": "{% if size %}a: b\n{% endif %}\n",
    "a loop": "{# x #}{% for i in a %}- {{ i }}\n{% endfor %}",
    "a value that is set, and a branch": "{% set x = 1 %}\n\n{% if x %}a{% endif %}\n",
}
FULL = {
    "text": "a: {{ size }}\n",
    "a branch below text": "a:\n{% if size %}  b: c\n{% endif %}",
    "an expression": "{{ size }}",
}


@pytest.mark.parametrize("filtered", ["indent(2)", "b64encode", "ansible.builtin.b64encode"])
@pytest.mark.parametrize("place", [TASKS, "roles/demo/templates/outer.j2"])
@pytest.mark.parametrize("text", [*EMPTY.values(), *FULL.values()], ids=[*EMPTY, *FULL])
def test_template_that_may_be_none_is_reported_where_a_filter_needs_text(
    workshop: Workshop, text: str, place: str, filtered: str
) -> None:
    workshop.write("roles/demo/templates/inner.j2", text)
    looked_up = f"{{{{ lookup('template', 'inner.j2') | {filtered} }}}}"
    workshop.write(place, f'- debug: {{msg: "{looked_up}"}}\n' if place == TASKS else looked_up)
    found = [
        it for it in workshop.check(for_strict_core=True).errors if "lookup('template'" in it.what
    ]
    assert len(found) == (text in EMPTY.values())
    if found:
        assert "null from ansible-core 2.19 on" in found[0].what
        assert "default('', true)" in found[0].hint
