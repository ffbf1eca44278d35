"""What is read from tasks, and what is said where reading is not enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.cli import main
from rolecall.gvk import Gvk
from rolecall.watches import Play, Watch
from rolecall.webhooks import Admission, AdmissionKeys
from rolecall_dev.rbac import Derived, RightsSources, derive

KIND = Gvk("cache.example.com", "v1", "Memcached")
CRD = """
kind: CustomResourceDefinition
spec: {group: cache.example.com, names: {kind: Memcached, plural: memcacheds}}
"""


def derived(folder: Path, tasks: str, **files: str) -> Derived:
    """The rights of a role with these tasks, and with `templates__x_yaml` and the like."""
    crd = folder / "crds" / "memcacheds.yaml"
    crd.parent.mkdir(exist_ok=True)
    crd.write_text(CRD)
    role = folder / "roles" / "memcached"
    for name, content in {"tasks__main_yml": tasks, **files}.items():
        folder_name, _, file = name.partition("__")
        path = role / folder_name / file.replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return derive(RightsSources(folder, [Watch(KIND, Play(role, is_role=True))]))


def rights(found: Derived) -> set[str]:
    """Without those of the watched kind itself."""
    return {str(right) for right in found.rights if right.group != KIND.group}


CREATED = {f"{verb} configmaps" for verb in ("get", "list", "watch", "create", "patch")}
IN_LINE = "definition: {apiVersion: v1, kind: ConfigMap}"


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (f"kubernetes.core.k8s: {{state: present, {IN_LINE}}}", CREATED),
        (f"k8s: {{{IN_LINE}}}", CREATED),
        ("k8s: state=present api_version=v1 kind=ConfigMap name=x", CREATED),
        (f"k8s: {{{IN_LINE}, force: true}}", CREATED | {"update configmaps"}),
        (f"k8s: {{state: patched, {IN_LINE}}}", {"get configmaps", "patch configmaps"}),
        ("k8s: {state: absent, kind: Pod, name: x}", {"get pods", "delete pods"}),
        ("k8s: {state: absent, kind: Pod}", {"get pods", "delete pods", "list pods"}),
        ("k8s_info: {kind: Pod, name: x}", {"get pods"}),
        ("k8s_info: {kind: Pod}", {"get pods", "list pods"}),
        (
            "k8s_scale: {api_version: apps/v1, kind: Deployment, name: x, replicas: 2}",
            {"get deployments.apps", "get deployments.apps/scale", "patch deployments.apps/scale"},
        ),
        ("k8s_log: {name: x}", {"get pods", "list pods", "get pods/log"}),
        ("k8s_exec: {pod: x, command: y}", {"get pods", "get pods/exec", "create pods/exec"}),
        (
            "k8s_info: {api_version: networking.k8s.io/v1, kind: Ingress, name: x}",
            {"get ingresses.networking.k8s.io"},
        ),
        ("ansible.builtin.debug: {msg: kind}", set()),
        ("rolecall.operator.report: {ready: true, reason: A}", set()),  # as the engine itself
        (
            "rolecall.operator.report: {events: [{reason: A}]}",
            {"get events", "create events", "patch events"},
        ),
    ],
)
def test_module_needs_what_it_does(tmp_path: Path, task: str, expected: set[str]) -> None:
    found = derived(tmp_path, f"- name: x\n  {task}\n")
    assert rights(found) == expected
    assert found.notes == []


@pytest.mark.parametrize(
    ("tasks", "files"),
    [
        (
            "- k8s:\n    definition: \"{{ lookup('template', 'a.yaml') | from_yaml }}\"\n",
            {"templates__a_yaml": "kind: ConfigMap\n{% if a %}\n{% endif %}\napiVersion: v1\n"},
        ),
        ("- k8s: {src: a.yaml}\n", {"files__a_yaml": "apiVersion: v1\nkind: ConfigMap\n"}),
        (
            '- k8s: {definition: "{{ wanted }}"}\n',
            {"vars__main_yml": "wanted: {apiVersion: v1, kind: ConfigMap, data: !unsafe '{{'}\n"},
        ),
        (
            '- k8s: {kind: "{{ item.kind }}", name: x}\n  loop: [{kind: ConfigMap}]\n',
            {},
        ),
        ('- block:\n    - k8s: {kind: "{{ k }}"}\n      vars: {k: ConfigMap}\n', {}),
        (f"- block: []\n  rescue:\n    - k8s: {{{IN_LINE}}}\n", {}),
    ],
)
def test_kind_is_found_where_authors_put_it(
    tmp_path: Path, tasks: str, files: dict[str, str]
) -> None:
    found = derived(tmp_path, tasks, **files)
    assert rights(found) == CREATED
    assert found.notes == []


def test_all_documents_of_a_template_count(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: Secret\n---\napiVersion: apps/v1\nkind: StatefulSet\n"
    found = derived(tmp_path, "- k8s: {template: a.yaml}\n", templates__a_yaml=text)
    assert {"create secrets", "create statefulsets.apps"} <= rights(found)


def test_custom_resource_itself_is_known(tmp_path: Path) -> None:
    task = '- k8s: {state: patched, kind: "{{ me.kind }}", api_version: "{{ me.apiVersion }}"}\n'
    variables = 'me: "{{ _cache_example_com_memcached }}"\n'
    found = derived(tmp_path, task, vars__main_yml=variables)
    assert rights(found) == set()
    assert found.notes == []


def test_unknown_kind_is_guessed_and_reported(tmp_path: Path) -> None:
    found = derived(tmp_path, "- k8s_info: {api_version: x.dev/v1, kind: Policy, name: x}\n")
    assert rights(found) == {"get policies.x.dev"}
    assert "Policy.x.dev was guessed to be `policies`" in found.notes[0]


@pytest.mark.parametrize(
    "task",
    [
        'k8s: {kind: "{{ anything }}"}',
        "k8s: {definition: \"{{ lookup('template', name ~ '.j2') }}\"}",
        "kubernetes.core.helm: {name: x}",
        "rolecall.operator.report: {cr: '{{ found }}', status: {a: 1}}",
    ],
)
def test_unreadable_file_is_reported_with_its_place(tmp_path: Path, task: str) -> None:
    found = derived(tmp_path, f"- {task}\n")
    assert rights(found) == set()
    assert any("roles/memcached/tasks/main.yml:1: " in note for note in found.notes)
    assert any("use --record" in note for note in found.notes)


def test_roles_of_a_playbook_are_read(tmp_path: Path) -> None:
    derived(tmp_path, f"- k8s: {{{IN_LINE}}}\n")
    playbook = tmp_path / "playbooks" / "memcached.yml"
    playbook.parent.mkdir()
    playbook.write_text(
        "- hosts: localhost\n  tasks:\n    - import_role: {name: memcached}\n"
        "    - k8s_info: {kind: Node, name: x}\n"
    )
    found = derive(RightsSources(tmp_path, [Watch(KIND, Play(playbook, is_role=False))]))
    assert rights(found) == CREATED | {"get nodes"}


def test_record_adds_what_was_asked_for(tmp_path: Path) -> None:
    record = tmp_path / "record"
    record.write_text(
        '{"for": "a/v1, Kind=B", "verb": "create", "group": "batch", "resource": "jobs",'
        ' "subresource": "", "namespace": "x", "name": "", "code": 201}\n'
        '{"for": "a/v1, Kind=B", "verb": "get", "group": "", "resource": "pods",'
        ' "subresource": "log", "namespace": "x", "name": "p", "code": 403}\n'
        '{"for": "a/v1, Kind=B", "verb": "get", "path": "/api", "code": 200}\n'
    )
    role = tmp_path / "roles" / "memcached"
    found = derive(RightsSources(tmp_path, [Watch(KIND, Play(role, is_role=True))], [record]))
    assert rights(found) == {
        "create jobs.batch",
        "list jobs.batch",
        "watch jobs.batch",
        "get pods/log",
    }


def test_line_that_is_no_record_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "watches.yaml").write_text("[]\n")
    (tmp_path / "record").write_text("hello\n")
    assert main(["rbac", "--record", "record"]) == 2
    assert "record:1: is not a line of a record" in capsys.readouterr().err


@pytest.mark.parametrize(
    "loop",
    [
        "{{ wanted | those_that_differ(found) }}",
        "{{ [lookup('ansible.builtin.template', 'x.yaml') | from_yaml] | those_that_differ(found) }}",
    ],
)
def test_kinds_of_a_loop_are_known_whatever_a_filter_picks(tmp_path: Path, loop: str) -> None:
    found = derived(
        tmp_path,
        f'- k8s: {{definition: "{{{{ item }}}}"}}\n  loop: "{loop}"\n  vars:\n'
        "    wanted: [\"{{ lookup('template', 'x.yaml') | from_yaml }}\"]\n",
        templates__x_yaml="apiVersion: v1\nkind: ConfigMap\n",
    )
    assert rights(found) == CREATED
    assert not found.notes


def test_play_of_admission_needs_what_it_reads(tmp_path: Path) -> None:
    """It may try more; the proxy refuses that, so a right for it would be one too many."""
    tasks = tmp_path / "roles/asked/tasks/main.yml"
    tasks.parent.mkdir(parents=True)
    tasks.write_text(
        "- {name: a, k8s_info: {kind: Pod, name: x}}\n"
        f"- {{name: b, k8s: {{{IN_LINE}}}}}\n"
        "- {name: c, k8s_exec: {pod: x, command: y}}\n"
    )
    asked = AdmissionKeys(Admission(Play(tasks.parent.parent, is_role=True)))
    own = Play(tmp_path / "roles/own", is_role=True)
    found = derive(RightsSources(tmp_path, [Watch(KIND, own, of_extensions=(asked,))]))
    reads = {"get pods", "get configmaps", "list configmaps", "watch configmaps"}
    assert rights(found) == reads
