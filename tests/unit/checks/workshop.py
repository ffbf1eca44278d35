"""A small project that is in order, and the means to break it in one place."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from rolecall.errors import Problem
from rolecall_dev.checks import Findings, Project, check_project

CRD = "config/crd/bases/demos.yaml"
WATCHES = "watches.yaml"
ROLE = "config/rbac/role.yaml"
ARGUMENTS = "roles/demo/meta/argument_specs.yml"

SOUND = {
    WATCHES: """\
- group: demo.example.com
  version: v1
  kind: Demo
  role: demo
  finalizer: {name: demo.example.com/finalizer, vars: {state: absent}}
- group: demo.example.com
  version: v1
  kind: Book
  playbook: playbooks/book.yml
  manageStatus: false
""",
    "roles/demo/tasks/main.yml": "- ansible.builtin.debug: {msg: hello}\n",
    "roles/demo/defaults/main.yml": """\
password: !vault |
  $ANSIBLE_VAULT;1.1;AES256
demo_size: "{{ size }}"
""",
    "roles/demo/vars/main.yml": "$ANSIBLE_VAULT;1.1;AES256\n6162\n",
    "roles/demo/files/anything.yml": "}",
    ARGUMENTS: """\
argument_specs:
  main:
    options:
      demo_size: {type: int, required: true}
      image_name: {type: str, choices: [a, b]}
      state: {type: str}
""",
    "playbooks/book.yml": (
        "- hosts: localhost\n  gather_facts: false\n  roles: [demo]\n- import_playbook: other.yml\n"
    ),
    CRD: """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: demos.demo.example.com}
spec:
  group: demo.example.com
  names: {kind: Demo, plural: demos, singular: demo, listKind: DemoList}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size]
              properties:
                size: {type: integer}
                imageName: {type: string, enum: [b, a]}
            status: {type: object, x-kubernetes-preserve-unknown-fields: true}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: books.demo.example.com}
spec:
  group: demo.example.com
  names: {kind: Book, plural: books}
  scope: Cluster
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
""",
    ROLE: """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager-role}
rules:
  - apiGroups: [demo.example.com]
    resources: [demos, demos/status, demos/finalizers]
    verbs: [create, delete, get, list, patch, update, watch]
  - {apiGroups: [demo.example.com], resources: [books, books/finalizers], verbs: ["*"]}
  - {apiGroups: [""], resources: [events], verbs: [create, patch]}
""",
    "config/rbac/role_binding.yaml": """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager-rolebinding}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager-role}
subjects: [{kind: ServiceAccount, name: controller-manager, namespace: system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: leader-election-rolebinding}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: leader-election-role}
subjects: [{kind: ServiceAccount, name: controller-manager, namespace: system}]
""",
    "config/rbac/leader_election_role.yaml": """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: leader-election-role}
rules:
  - {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, update]}
""",
    # For people: not bound here, so it must not count.
    "config/rbac/demo_editor_role.yaml": """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: demo-editor-role}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
""",
}


@dataclass(frozen=True)
class Workshop:
    folder: Path

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def remove(self, name: str) -> None:
        (self.folder / name).unlink()

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def set_demo_schema(self, part: str, schema: Mapping[str, Any]) -> None:
        """Put another schema for `spec` or `status` into the CRD of Demo."""
        documents = list(yaml.safe_load_all((self.folder / CRD).read_text()))
        root = documents[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        root["properties"][part] = copy.deepcopy(dict(schema))
        self.write(CRD, yaml.safe_dump_all(documents, sort_keys=False))

    def check(
        self,
        environment: Mapping[str, str] | None = None,
        crds: Sequence[Path] = (),
        rbac: Path | None = None,
        *,
        for_strict_core: bool = False,
        for_variables: bool = False,
        is_strict: bool = False,
    ) -> Findings:
        findings = check_project(
            Project(
                self.folder,
                environment or {},
                crd_folders=crds,
                rbac_folder=rbac,
                for_strict_core=for_strict_core,
                is_strict=is_strict,
            )
        ).findings
        if not for_variables:
            # Conditions are tried without saying where their variables come from.
            kept = [it for it in findings.problems if it.rule != "undefined-variable"]
            findings.problems[:] = kept
        return findings

    def errors(self, **options: Any) -> list[str]:
        return [_by_line(problem) for problem in self.check(**options).errors]

    def warnings(self, **options: Any) -> list[str]:
        found = self.check(**options)
        return [_by_line(problem) for problem in found.problems if problem.is_warning]


def _by_line(problem: Problem) -> str:
    """Without the column, which has tests of its own."""
    return str(replace(problem, column=None))


def only(texts: Sequence[str]) -> str:
    """The one text that must be there."""
    assert len(texts) == 1, texts
    return texts[0]
