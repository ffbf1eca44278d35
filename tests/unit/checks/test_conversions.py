"""Conversions are held to the CRD, and to random objects."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import yaml

from rolecall.conversion import load_conversions
from rolecall.json_object import Json
from rolecall_dev.checks.conversions import check_conversions
from rolecall_dev.checks.crds import read_crds
from rolecall_dev.checks.round_trips import round_trips
from rolecall_dev.sources import Findings

TEXT = {"type": "string"}
OLDER = {
    "size": {"type": "integer"},
    "image": TEXT,
    "env": {"type": "object", "additionalProperties": TEXT},
    "legacy": TEXT,
    "ports": {"type": "array", "items": {"type": "object", "properties": {"nr": TEXT}}},
    "same": {"type": "object", "properties": {"deep": TEXT}},
}
NEWER = {
    "replicas": {"type": "integer"},
    "image": {"type": "object", "properties": {"repository": TEXT, "tag": TEXT}},
    "env": {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": TEXT, "value": TEXT, "from": TEXT},
        },
    },
    "strategy": {"type": "string", "enum": ["Roll", "Recreate"]},
    "ports": {"type": "array", "items": {"type": "object", "properties": {"number": TEXT}}},
    "same": {"type": "object", "properties": {"deep": TEXT}},
}
RULES = """
- {rename: spec.size, to: spec.replicas}
- split: spec.image
  as: "{repository}:{tag}"
  into: {repository: spec.image.repository, tag: spec.image.tag}
  parts: {tag: '[\\w.-]+'}
- entries: spec.env
- {default: spec.strategy, value: Roll}
- {keep: spec.legacy, of: v1}
- each: spec.ports
  rules:
  - {rename: nr, to: number}
"""


def crd(older: Json, newer: Json) -> Json:
    def version(name: str, fields: Json) -> Json:
        spec = {"type": "object", "properties": fields}
        return {
            "name": name,
            "served": True,
            "storage": name == "v2",
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
        }

    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "apps.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "App", "plural": "apps"},
            "versions": [version("v1", older), version("v2", newer)],
        },
    }


class Project:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def said(self, rules: str = RULES, older: Json = OLDER, newer: Json = NEWER) -> list[str]:
        (self.folder / "crds").mkdir(exist_ok=True)
        (self.folder / "crds" / "apps.yaml").write_text(yaml.safe_dump(crd(older, newer)))
        file = self.folder / "conversions.yaml"
        head = (
            "- group: example.com\n  kind: App\n  steps:\n  - older: v1\n    newer: v2\n    rules:"
        )
        file.write_text(head + textwrap.indent(rules, "    "))
        findings = Findings()
        crds = read_crds([self.folder / "crds"], self.folder, findings)
        check_conversions(load_conversions(file), "conversions.yaml", crds, findings)
        return [str(problem) for problem in findings.problems]

    def differences(self, rules: str, count: int) -> list[str]:
        assert self.said(rules) is not None
        schemas = {
            version["name"]: version["schema"]["openAPIV3Schema"]
            for version in crd(OLDER, NEWER)["spec"]["versions"]
        }
        conversion = load_conversions(self.folder / "conversions.yaml")[0]
        return [str(found) for found in round_trips(conversion, schemas, count, 1)]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_rules_that_cover_every_field_are_accepted(project: Project) -> None:
    assert project.said() == []


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        ("- {rename: spec.size, to: spec.replicas}\n", "`spec.size` of `v1` is in no rule"),
        ("- {default: spec.strategy, value: Roll}\n", "`spec.strategy` of `v2` is in no rule"),
        ("- {keep: spec.legacy, of: v1}\n", "`spec.legacy` of `v1` is in no rule"),
        ("- entries: spec.env\n", "`spec.env` of `v1` is in no rule, and has another type"),
        ("  - {rename: nr, to: number}\n", "`spec.ports[].nr` of `v1` is in no rule"),
    ],
)
def test_field_that_no_rule_takes_is_named(project: Project, left_out: str, words: str) -> None:
    rules = RULES.replace(left_out, "").replace(
        "  rules:\n", "  rules: []\n" if "nr" in left_out else "  rules:\n"
    )
    assert any(words in line for line in project.said(rules)), project.said(rules)


def test_field_that_is_not_in_the_schema_is_named_with_its_line(project: Project) -> None:
    (said,) = project.said(RULES + "- {rename: spec.seize, to: spec.same.deep}\n")[:1]
    assert said.startswith("conversions.yaml:18: `spec.seize` is not in the schema of `v1`")


@pytest.mark.slow
def test_random_objects_come_back(project: Project) -> None:
    assert project.differences(RULES, 2000) == []


def test_object_that_does_not_come_back_is_shown(project: Project) -> None:
    lossy = RULES.replace("- entries: spec.env\n", "- {entries: spec.env, lossy: true}\n")
    assert project.differences(lossy, 200) == [], "what is said to be lossy may be lost"
    forgotten = RULES.replace("- {keep: spec.legacy, of: v1}\n", "")
    assert project.differences(forgotten, 50) == [], "what no rule takes stays where it is"
