from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.runner import RunRequest, cr_variable, extra_vars, terms_of
from rolecall.watches import Play, Watch
from tests.unit.checks.workshop import ARGUMENTS, CRD, WATCHES, Workshop, only

TEXT = {"type": "string"}
DATA = {"type": "object", "additionalProperties": TEXT}


@pytest.fixture
def keys(workshop: Workshop) -> Workshop:
    """Without argument specs, which would have a word on every new key."""
    workshop.remove(ARGUMENTS)
    return workshop


def spec(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_keys_that_collide_are_reported(keys: Workshop) -> None:
    keys.set_demo_schema("spec", spec(fooBar=TEXT, foo_bar=TEXT, inner=spec(a_b=TEXT, aBa=TEXT)))

    warning = only(keys.warnings())

    assert "`fooBar` and `foo_bar` in `spec` both become `foo_bar`" in warning


def test_keys_that_collide_in_a_list_are_reported_with_their_place(keys: Workshop) -> None:
    keys.set_demo_schema(
        "spec", spec(rows={"type": "array", "items": spec(fooBar=TEXT, foo_bar=TEXT)})
    )

    assert "in `spec.rows[]` both become" in only(keys.warnings())


@pytest.mark.parametrize(
    ("properties", "reported"),
    [
        ({"nodeSelector": DATA}, "spec.nodeSelector: a map whose keys are data"),
        ({"a": spec(b=DATA)}, "spec.a.b: a map whose keys are data"),
        ({"rows": {"type": "array", "items": DATA}}, "spec.rows[]: a map whose keys are data"),
        ({"template": spec(apiVersion=TEXT, kind=TEXT)}, "spec.template: a Kubernetes object"),
        (
            {"object": {"type": "object", "x-kubernetes-embedded-resource": True}},
            "spec.object: a Kubernetes object",
        ),
        (
            {"containers": {"type": "array", "items": spec(imagePullPolicy=TEXT)}},
            "spec.containers: part of a Kubernetes object",
        ),
        (
            {"extra": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            "spec.extra: free-form",
        ),
    ],
)
def test_keys_that_are_not_the_authors_are_reported(
    properties: dict[str, Any], reported: str, keys: Workshop
) -> None:
    keys.set_demo_schema("spec", spec(**properties))

    warning = only(keys.warnings())

    assert warning.startswith(f"{CRD}:")
    assert reported in warning
    assert "hint: read them from `_demo_example_com_demo_spec`" in warning


def test_role_that_reads_the_unconverted_spec_knows(keys: Workshop) -> None:
    keys.set_demo_schema("spec", spec(nodeSelector=DATA))
    keys.write("roles/demo/templates/pod.j2", "{{ _demo_example_com_demo_spec.nodeSelector }}")

    assert keys.warnings() == []


def test_watch_without_snake_case_loses_nothing(keys: Workshop) -> None:
    keys.set_demo_schema("spec", spec(nodeSelector=DATA, fooBar=TEXT, foo_bar=TEXT))
    keys.replace(WATCHES, "  role: demo\n", "  role: demo\n  snakeCaseParameters: false\n")

    assert keys.warnings() == []


def test_spec_that_names_nothing_is_left_alone(keys: Workshop) -> None:
    keys.set_demo_schema("spec", {"type": "object", "x-kubernetes-preserve-unknown-fields": True})

    assert keys.warnings() == []


def test_keys_of_the_author_are_converted_without_a_word(keys: Workshop) -> None:
    keys.set_demo_schema("spec", spec(imageName=TEXT, database=spec(userName=TEXT), env=TEXT))

    assert keys.warnings() == []


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("ansibleConnection", "it would configure Ansible itself"),
        ("sizeLimit", "`vars` of the watch has the same name"),
        ("state", "`vars` of the finalizer has the same name"),
    ],
)
def test_keys_that_never_reach_the_role_are_reported(key: str, why: str, keys: Workshop) -> None:
    keys.set_demo_schema("spec", spec(**{key: TEXT}))
    keys.replace(WATCHES, "  role: demo\n", "  role: demo\n  vars: {size_limit: 3}\n")

    assert why in only(keys.warnings())


def test_variable_of_a_cr_is_the_one_that_runs_get() -> None:
    for gvk in (Gvk("a-b.example.com", "v1", "DemoSet"), Gvk("", "v1", "Secret")):
        watch = Watch(gvk, Play(Path("/roles/demo"), is_role=True))
        request = RunRequest("r", terms_of(watch), {"spec": {}}, False, Path("/k"), 0, 0)

        assert {cr_variable(gvk), f"{cr_variable(gvk)}_spec"} <= extra_vars(request).values.keys()
