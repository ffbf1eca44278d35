from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.checks.workshop import CRD, WATCHES, Workshop, only

TEXT = {"type": "string"}
CONDITION: dict[str, Any] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("type", "status", "reason", "message", "lastTransitionTime"), TEXT),
        "ansibleResult": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
STATUS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "observedGeneration": {"type": "integer"},
        "conditions": {"type": "array", "items": CONDITION},
    },
}


def condition(**changes: Any) -> dict[str, Any]:
    """A status schema whose conditions have other properties."""
    item = {**CONDITION, "properties": {**CONDITION["properties"], **changes}}
    return status(conditions={"type": "array", "items": item})


def status(**changes: Any) -> dict[str, Any]:
    return {**STATUS, "properties": {**STATUS["properties"], **changes}}


def test_kind_without_crd_is_a_warning_that_says_where_it_was_looked_for(
    workshop: Workshop,
) -> None:
    workshop.remove(CRD)

    first, second = workshop.warnings()

    assert "watches.yaml:1: warning: no CRD of kind `Demo`" in first
    assert "looked in: crds, config/crd/bases" in first
    assert "`Book`" in second


def test_crds_are_also_found_in_crds(workshop: Workshop) -> None:
    (workshop.folder / "crds").mkdir()
    (workshop.folder / CRD).rename(workshop.folder / "crds/all.yml")

    assert workshop.check().problems == []


def test_folders_that_are_named_are_the_only_ones(workshop: Workshop) -> None:
    (workshop.folder / "empty").mkdir()

    assert len(workshop.warnings(crds=[Path("empty")])) == 2
    assert "nowhere: is not a folder" in only(workshop.errors(crds=[Path("nowhere")]))


@pytest.mark.parametrize("group", ["", "apps", "networking.k8s.io"])
def test_kinds_that_every_cluster_has_need_no_crd(group: str, workshop: Workshop) -> None:
    workshop.write(WATCHES, f"- {{group: '{group}', version: v1, kind: Thing, role: demo}}\n")

    assert not any("no CRD" in warning for warning in workshop.warnings())


def test_core_kind_without_status_must_not_manage_it(workshop: Workshop) -> None:
    workshop.write(WATCHES, "- {version: v1, kind: Secret, role: demo}\n")

    assert "watches.yaml:1: kind `Secret` has no status" in only(workshop.errors())


def test_kind_in_other_letters_is_an_error(workshop: Workshop) -> None:
    workshop.replace(CRD, "kind: Demo,", "kind: DEMO,")

    assert "kind `Demo` is spelled `DEMO` in its CRD" in only(workshop.errors())


def test_version_that_the_crd_does_not_have_is_an_error(workshop: Workshop) -> None:
    workshop.replace(CRD, "- name: v1\n", "- name: v2\n")

    error = only(workshop.errors())

    assert "watches.yaml:1: version `v1` of `Demo` is not in its CRD" in error
    assert f"{CRD} has `v2`" in error


def test_version_that_is_not_served_is_an_error(workshop: Workshop) -> None:
    workshop.replace(CRD, "      served: true", "      served: false")

    assert f"{CRD}:10: version `v1` of `Demo` is watched but not served" in only(workshop.errors())


def test_name_that_the_api_server_would_refuse_is_an_error(workshop: Workshop) -> None:
    workshop.replace(CRD, "demos.demo.example.com", "demo.demo.example.com")

    assert f"{CRD}:3: name `demo.demo.example.com` must be" in only(workshop.errors())


def test_crd_of_an_old_api_is_an_error(workshop: Workshop) -> None:
    workshop.replace(CRD, "apiextensions.k8s.io/v1\n", "apiextensions.k8s.io/v1beta1\n")

    assert "is no longer served by Kubernetes" in workshop.errors()[0]


def test_missing_status_subresource_is_an_error_unless_status_is_not_managed(
    workshop: Workshop,
) -> None:
    workshop.replace(CRD, "      subresources: {status: {}}\n", "")

    assert f"{CRD}:9: version `v1` has no status subresource" in only(workshop.errors())

    workshop.replace(WATCHES, "  role: demo\n", "  role: demo\n  manageStatus: false\n")
    assert workshop.errors() == []


def test_status_that_the_schema_does_not_name_will_be_dropped(workshop: Workshop) -> None:
    workshop.replace(
        CRD, "            status: {type: object, x-kubernetes-preserve-unknown-fields: true}\n", ""
    )

    assert "the API server will drop `status`" in only(workshop.warnings())


@pytest.mark.parametrize(
    ("schema", "dropped"),
    [
        ({"type": "object"}, "`status.conditions`, `status.observedGeneration`"),
        (
            condition(ansibleResult={"type": "object", "properties": {"ok": {"type": "integer"}}}),
            "`status.conditions[].ansibleResult.changed`",
        ),
        (
            status(
                conditions={
                    "type": "array",
                    "items": {"type": "object", "properties": {"type": {}}},
                }
            ),
            "`status.conditions[].status`",
        ),
    ],
)
def test_fields_that_the_schema_does_not_name_will_be_dropped(
    schema: dict[str, Any], dropped: str, workshop: Workshop
) -> None:
    workshop.set_demo_schema("status", schema)

    assert dropped in only(workshop.warnings())


def test_status_schema_that_names_all_fields_is_fine(workshop: Workshop) -> None:
    workshop.set_demo_schema("status", STATUS)

    assert workshop.check().problems == []


def test_observed_generation_is_not_missed_where_it_is_not_written(workshop: Workshop) -> None:
    workshop.set_demo_schema(
        "status",
        {"type": "object", "properties": {"conditions": STATUS["properties"]["conditions"]}},
    )
    assert "`status.observedGeneration`" in only(workshop.warnings())

    workshop.replace(WATCHES, "  role: demo\n", "  role: demo\n  readyCondition: false\n")
    assert workshop.warnings() == []


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (condition(reason={"type": "string", "minLength": 1}), "it wants `reason` not to be empty"),
        (condition(type={"type": "string", "enum": ["Ready"]}), "it does not allow type `Running`"),
        (
            status(
                conditions={
                    "type": "array",
                    "items": {**CONDITION, "required": ["observedGeneration"]},
                }
            ),
            "it wants `observedGeneration`, which is not written",
        ),
    ],
)
def test_schema_that_refuses_the_engines_conditions_is_an_error(
    schema: dict[str, Any], why: str, workshop: Workshop
) -> None:
    workshop.set_demo_schema("status", schema)

    assert why in only(workshop.errors())
