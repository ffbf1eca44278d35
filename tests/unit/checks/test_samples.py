"""Custom resources that a project brings along, as an API server would judge them."""

from __future__ import annotations

import pytest

from tests.unit.checks.workshop import Workshop, only

SAMPLE = "config/samples/demo.yaml"
HEAD = "apiVersion: demo.example.com/v1\nkind: Demo\nmetadata: {name: x}\n"


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        (
            f"{HEAD}spec: {{size: big}}\n",
            '4:8: the API server would refuse this Demo: `spec.size` is `"big"`',
        ),
        (
            f"{HEAD}spec: {{}}\n",
            "4:1: the API server would refuse this Demo: `spec.size` is missing",
        ),
        (f"{HEAD}spec: {{size: 1, imageNam: a}}\n", "4:17: the API server would refuse this Demo"),
        (f"{HEAD}spec: {{size: 1, imageName: c}}\n", "4:17: the API server would refuse this Demo"),
        (HEAD.replace("v1", "v2"), "1:1: version `v2` of `Demo` is not served; its CRD serves"),
        (
            HEAD.replace("Demo", "Dmo"),
            "2:1: there is no kind `Dmo` in group `demo.example.com`; did",
        ),
        (
            HEAD.replace("name: x", "") + "spec: {size: 1}\n",
            "3:1: the API server would refuse this Demo: `metadata.name` is missing",
        ),
    ],
)
def test_sample_that_its_crd_refuses_is_reported(
    workshop: Workshop, sample: str, expected: str
) -> None:
    workshop.write(SAMPLE, sample)

    assert only([str(it) for it in workshop.check().problems]).startswith(f"{SAMPLE}:{expected}")


def test_sample_that_relies_on_a_default_is_in_order(workshop: Workshop) -> None:
    workshop.set_demo_schema(
        "spec",
        {
            "type": "object",
            "required": ["size"],
            "properties": {"size": {"type": "integer", "default": 1}},
        },
    )
    workshop.write(SAMPLE, f"{HEAD}spec: {{}}\n")

    assert not [it for it in workshop.check().problems if it.rule == "sample"]


def test_what_molecule_applies_is_a_sample_too_but_templates_are_not_judged(
    workshop: Workshop,
) -> None:
    task = (
        "- hosts: localhost\n  tasks:\n    - k8s:\n        definition:\n"
        "          apiVersion: demo.example.com/v1\n          kind: Demo\n"
        "          metadata: {name: x}\n          spec: {size: %s}\n"
    )
    workshop.write("molecule/default/converge.yml", task % '"{{ 1 + 1 }}"')
    assert workshop.errors() == []
    workshop.write("molecule/default/converge.yml", task % "many")
    assert only(workshop.errors()).startswith(
        "molecule/default/converge.yml:8: the API server would"
    )


def test_sample_may_hold_anything_where_its_crd_takes_anything(workshop: Workshop) -> None:
    open_map = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    whole = {"type": "object", "properties": {"size": {"type": "integer"}, "more": open_map}}
    workshop.set_demo_schema("spec", {**whole, "anyOf": [{"required": ["size"]}]})
    workshop.write(SAMPLE, f"{HEAD}spec: {{size: 1, more: {{a: [{{b: 1}}]}}}}\n")

    assert not [it for it in workshop.check().problems if it.rule == "sample"]
