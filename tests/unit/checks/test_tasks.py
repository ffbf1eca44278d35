"""What Ansible would refuse in the middle of a run, reported before one."""

from __future__ import annotations

import pytest

from tests.unit.checks.workshop import WATCHES, Workshop, only

TASKS = "roles/demo/tasks/main.yml"
COLLECTION = ".collections/ansible_collections/acme/things"


def problems(workshop: Workshop, tasks: str) -> list[str]:
    """With columns, as people see them."""
    workshop.write(TASKS, tasks)
    return [str(problem) for problem in workshop.check(for_variables=True).problems]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (
            "debuq: {msg: x}",
            "1:3: there is no module `debuq` of Ansible's own; did you mean `debug`?",
        ),
        (
            "ansible.builtin.copi: {src: x}",
            "1:3: there is no module `copi` in `ansible.builtin`; did you mean"
            " `ansible.builtin.copy`?",
        ),
        (
            "debug: {mgs: x}",
            "1:11: `debug` takes no argument `mgs`; did you mean `msg`?",
        ),
        (
            "debug: {msg: x, verbosity: loud}",
            "1:19: argument `verbosity` of `debug` is `loud`, and must be a number",
        ),
        ("assert: {quiet: true}", "1:3: `assert` needs the argument `that`"),
        (
            "file: {path: /x, state: absen}",
            "1:20: argument `state` of `file` is `absen`, and must be one of absent, directory, file,"
            " hard, link, touch; did you mean `absent`?",
        ),
        (
            "debug: {msg: x}\n  whens: true",
            "2:3: `whens` is neither a keyword of a task nor a module; did you mean `when`?",
        ),
        ("name: nothing", "1:3: the task names no module, so Ansible refuses the file"),
        (
            "debug: {msg: x}\n  copy: {src: x, dest: y}",
            "2:3: the task names two modules, `debug` and `copy`: each needs a task of its own",
        ),
    ],
)
def test_task_that_ansible_refuses_is_reported(
    workshop: Workshop, task: str, expected: str
) -> None:
    assert only(problems(workshop, f"- {task}\n")) == f"{TASKS}:{expected}"


@pytest.mark.parametrize(
    "task",
    [
        "set_fact: {anything: 1}",
        "command: echo hello",
        "command: {cmd: echo, chdir: /}",
        "shell: echo {{ size }} | cat",
        'debug: "{{ image_name }}"',
        'file: {path: "{{ size }}", state: "{{ image_name }}"}',
        "include_tasks: main.yml",
        "meta: flush_handlers",
        "action: debug msg=x",
        "block:\n    - debug: {msg: x}\n  rescue:\n    - fail: {msg: y}",
        "acme.unknown.module: {a: b}",
    ],
)
def test_task_that_is_in_order_is_not_reported(workshop: Workshop, task: str) -> None:
    assert problems(workshop, f"- {task}\n") == []


def test_misspelt_collection_gets_the_one_that_is_required(workshop: Workshop) -> None:
    workshop.write("requirements.yml", "collections: [acme.things]\n")

    reported = only(problems(workshop, "- acme.thing.make: {}\n"))

    assert "there is no collection `acme.thing`; did you mean `acme.things.make`?" in reported


def test_module_of_an_installed_collection_is_known_by_its_file(workshop: Workshop) -> None:
    workshop.write(f"{COLLECTION}/plugins/modules/make.py", "")
    workshop.write(f"{COLLECTION}/galaxy.yml", "version: 1.0.0\n")

    assert problems(workshop, "- acme.things.make: {any: thing}\n") == []
    reported = only(problems(workshop, "- acme.things.mak: {}\n"))
    assert "there is no module `mak` in `acme.things`; did you mean `acme.things.make`?" in reported


def test_module_of_the_project_itself_is_known(workshop: Workshop) -> None:
    workshop.write("roles/demo/library/mine.py", "")

    assert problems(workshop, "- mine: {any: thing}\n") == []


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("{apiVersion: apps/v7, kind: Deployment}", "there is no `Deployment` in `apps/v7`; use"),
        ("{apiVersion: v1, kind: Deployment}", "no kind `Deployment` in `v1`; it is in `apps/v1`"),
        ("{apiVersion: v1, kind: ConfigMapp}", "did you mean `ConfigMap`?"),
        ("{apiVersion: app/v1, kind: Deployment}", "did you mean `apps/v1`?"),
        ("{apiVersion: demo.example.com/v2, kind: Demo}", "use `demo.example.com/v1`"),
        ("{apiVersion: demo.example.com/v1, kind: Dmo}", "did you mean `Demo`?"),
        ("{apiVersion: batch/v1beta1, kind: CronJob}", "by default; use `batch/v1`"),
    ],
)
def test_kind_that_no_api_server_has_is_reported(
    workshop: Workshop, definition: str, expected: str
) -> None:
    reported = only(problems(workshop, f"- k8s: {{definition: {definition}}}\n"))

    assert expected in reported
    assert reported.startswith(f"{TASKS}:1:")


@pytest.mark.parametrize(
    "definition",
    [
        "{apiVersion: apps/v1, kind: Deployment}",
        "{apiVersion: v1, kind: List}",
        "{apiVersion: v1, kind: PodList}",
        "{apiVersion: demo.example.com/v1, kind: Demo}",
        "{apiVersion: route.openshift.io/v1, kind: Route}",
        "{apiVersion: acme.io/v7, kind: Thing}",
        '{apiVersion: "{{ size }}", kind: Thing}',
    ],
)
def test_kind_that_may_be_there_is_not_reported(workshop: Workshop, definition: str) -> None:
    assert problems(workshop, f"- k8s: {{definition: {definition}}}\n") == []


def test_kind_in_a_template_is_reported_at_its_line(workshop: Workshop) -> None:
    workshop.write(
        "roles/demo/templates/x.yaml.j2", "---\n# ours\napiVersion: apps/v7\nkind: Job\n"
    )

    reported = only(problems(workshop, "- k8s: {template: x.yaml.j2}\n"))

    assert reported.startswith(
        "roles/demo/templates/x.yaml.j2:3:13: there is no kind `Job` in `apps/v7`"
    )


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ('debug: {msg: "{{ imagename }}"}', "1:20: nothing defines the variable `imagename`; did"),
        (
            "debug: {msg: x}\n  when: imagename == 'a'",
            "2:9: nothing defines the variable `imagename`",
        ),
        ("assert: {that: [imagename == 'a']}", "1:19: nothing defines the variable `imagename`"),
        (
            'debug: {msg: "{{ meta.name }}"}',
            "1:20: nothing defines the variable `meta`; did you mean",
        ),
    ],
)
def test_variable_that_nothing_defines_is_reported(
    workshop: Workshop, task: str, expected: str
) -> None:
    assert only(problems(workshop, f"- {task}\n")).startswith(f"{TASKS}:{expected}")


@pytest.mark.parametrize(
    "tasks",
    [
        '- debug: {msg: "{{ size }} {{ image_name }} {{ _demo_example_com_demo_spec.size }}"}',
        '- debug: {msg: "{{ ansible_operator_meta.name }} {{ ansible_facts }} {{ state }}"}',
        '- set_fact: {mine: 1}\n- debug: {msg: "{{ mine }}"}',
        '- command: x\n  register: out\n- debug: {msg: "{{ out.rc }}"}',
        '- debug: {msg: "{{ each }} {{ at }}"}\n  loop: [1]\n'
        "  loop_control: {loop_var: each, index_var: at}",
        '- debug: {msg: "{{ maybe | default(1) }}"}',
        '- debug: {msg: "{% if size %}{% set x = 1 %}{% endif %}{{ x }}"}',
        '- debug: {msg: "{% if size %}{% set x %}y{% endset %}{% endif %}{{ x }}"}',
        '- debug: {msg: "{% for i in [1] %}{% if i %}{% set x = i %}{% endif %}{{ x }}{% endfor %}"}',
        '- debug: {msg: "{{ maybe }}"}\n  when: maybe is defined',
        '- debug: {msg: "{{ maybe }}"}\n  when: "\'maybe\' in vars"',
        '- debug: {msg: "{% for row in [1] %}{{ row }}{{ loop.index }}{% endfor %}"}',
        "- debug: {msg: !unsafe '{{ text }}'}",
        "- debug: {msg: '{% raw %}{{ text }}{% endraw %}'}",
        '- include_vars: more.yml\n- debug: {msg: "{{ more }}"}',
        '- block:\n    - debug: {msg: "{{ inner }}"}\n  vars: {inner: 1}',
        '- include_role: {name: away}\n- debug: {msg: "{{ theirs }}"}',
    ],
)
def test_variable_that_may_come_from_somewhere_is_not_reported(
    workshop: Workshop, tasks: str
) -> None:
    workshop.write("roles/demo/files/more.yml", "more: 1\n")

    assert problems(workshop, f"{tasks}\n") == []


@pytest.mark.parametrize("folder", ["", "playbooks/", "inventory/"])
@pytest.mark.parametrize("name", ["group_vars/all.yml", "group_vars/all/x.yml", "host_vars/h.yaml"])
def test_variables_beside_playbook_project_and_inventory_are_known(
    workshop: Workshop, folder: str, name: str
) -> None:
    workshop.write(f"{folder}{name}", "theirs: 1\n")
    workshop.write(TASKS, '- debug: {msg: "{{ theirs }}"}\n')
    environment = {"ANSIBLE_INVENTORY": "inventory/hosts"}
    found = workshop.check(environment, for_variables=True).problems
    assert [it.what for it in found if it.rule == "undefined-variable"] == []


def test_variable_in_a_template_and_in_defaults_is_reported_at_its_place(
    workshop: Workshop,
) -> None:
    workshop.write("roles/demo/templates/x.j2", "a: {{ size }}\nb: {{ image_nam }}\n")
    workshop.write("roles/demo/defaults/main.yml", 'demo_size: "{{ sizze }}"\n')

    assert problems(workshop, "- debug: {msg: x}\n") == [
        "roles/demo/defaults/main.yml:1:16: nothing defines the variable `sizze`; did you mean `size`?",
        "roles/demo/templates/x.j2:2:7: nothing defines the variable `image_nam`;"
        " did you mean `image_name`?",
    ]


def test_included_template_knows_what_the_template_that_includes_it_sets(
    workshop: Workshop,
) -> None:
    workshop.write(
        "roles/demo/templates/all.j2",
        "{% set plan = 1 %}{% set head %}x{% endset %}{% include 'one.j2' %}\n",
    )
    workshop.write("roles/demo/templates/one.j2", "{{ plan }} {{ head }} {{ pln }}\n")

    assert problems(workshop, "- debug: {msg: x}\n") == [
        "roles/demo/templates/one.j2:1:26: nothing defines the variable `pln`; did you mean `plan`?"
    ]


def test_project_whose_crd_takes_any_field_is_not_blamed_for_variables(workshop: Workshop) -> None:
    workshop.set_demo_schema(
        "spec", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    )
    workshop.write(TASKS, '- debug: {msg: "{{ unheard }}"}\n')

    found = workshop.check(for_variables=True)

    assert not [it for it in found.problems if it.rule == "undefined-variable"]
    assert any("its CRD takes any" in note for note in found.notes)


SAMPLE = "config/samples/demo.yaml"
HEAD = "apiVersion: demo.example.com/v1\nkind: Demo\nmetadata: {name: x}\n"


def test_everything_is_reported_at_once_in_the_order_of_the_files(workshop: Workshop) -> None:
    workshop.write(SAMPLE, f"{HEAD}spec: {{}}\n")
    workshop.replace(WATCHES, "manageStatus: false", "manageStatus: false\n  ansibleVerbosity: 9")
    found = problems(workshop, '- debuq: {msg: x}\n- debug: {mgs: "{{ nowhere }}"}\n')

    assert [text.split(": ")[0] for text in found][:4] == [
        f"{SAMPLE}:4:1",
        f"{TASKS}:1:3",
        f"{TASKS}:2:11",
        f"{TASKS}:2:20",
    ]
