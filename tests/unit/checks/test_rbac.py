from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.checks.workshop import ROLE, SOUND, WATCHES, Workshop, only

DEMOS = "resources: [demos, demos/status, demos/finalizers]"
VERBS = "verbs: [create, delete, get, list, patch, update, watch]"
BINDING = "config/rbac/role_binding.yaml"


def test_verbs_that_are_missing_are_an_error_with_the_rule_to_add(workshop: Workshop) -> None:
    workshop.replace(ROLE, VERBS, "verbs: [get, patch, update]")

    error = only(workshop.errors())

    assert "config/rbac: not allowed to list, watch `demos.demo.example.com`" in error
    assert "so no Demo will be reconciled" in error
    assert "apiGroups [demo.example.com], resources [demos], verbs [list, watch]" in error


def test_status_that_cannot_be_written_is_an_error(workshop: Workshop) -> None:
    workshop.replace(ROLE, DEMOS, "resources: [demos, demos/finalizers]")

    assert "not allowed to patch `demos.demo.example.com/status`" in only(workshop.errors())


def test_rights_of_the_go_operator_that_never_patches_will_do(workshop: Workshop) -> None:
    workshop.replace(ROLE, VERBS, "verbs: [get, list, update, watch]")

    assert workshop.check().problems == []


def test_finalizer_needs_patch_only_where_there_is_one(workshop: Workshop) -> None:
    workshop.replace(ROLE, VERBS, "verbs: [get, list, watch]")
    workshop.replace(
        ROLE,
        "  - {apiGroups: [demo.example.com], resources: [books",
        "  - {apiGroups: [demo.example.com], resources: [demos/*, demos/status], verbs: [patch]}\n"
        "  - {apiGroups: [demo.example.com], resources: ['*/finalizers'], verbs: [update]}\n"
        "  - {apiGroups: [demo.example.com], resources: [books",
    )
    assert "the finalizer of Demo can neither be set nor removed" in only(workshop.errors())

    workshop.write(WATCHES, "- {group: demo.example.com, version: v1, kind: Demo, role: demo}\n")
    workshop.replace("roles/demo/meta/argument_specs.yml", "      state: {type: str}\n", "")
    assert workshop.check().problems == []


def test_core_group_is_spelled_as_rules_spell_it(workshop: Workshop) -> None:
    workshop.replace(ROLE, "resources: [events]", "resources: [pods]")

    warning = only(workshop.warnings())

    assert "not allowed to create, patch `events`" in warning
    assert 'apiGroups [""]' in warning


def test_core_kind_that_cannot_be_watched_is_a_warning(workshop: Workshop) -> None:
    workshop.write(WATCHES, "- {version: v1, kind: Secret, role: demo, manageStatus: false}\n")
    assert "not allowed to get, list, watch `secrets`" in only(workshop.warnings())

    workshop.replace(
        ROLE, "resources: [events], verbs: [create, patch]", "resources: ['*'], verbs: ['*']"
    )
    assert workshop.warnings() == []


def test_leases_may_be_granted_in_one_namespace(workshop: Workshop) -> None:
    workshop.remove("config/rbac/leader_election_role.yaml")
    workshop.replace(BINDING, "kind: RoleBinding", "kind: Nothing")

    assert "--leader-elect will not work" in only(workshop.warnings())


def test_grant_in_one_namespace_is_enough_only_where_one_is_watched(workshop: Workshop) -> None:
    workshop.write(BINDING, SOUND[BINDING].replace("ClusterRoleBinding", "RoleBinding"))
    warning = only(workshop.warnings())
    assert "allows only in one namespace, by a RoleBinding" in warning
    assert "  get, list, watch `demos.demo.example.com`\n" in warning
    assert "or set WATCH_NAMESPACE" in warning

    # What lives in no namespace still needs a grant everywhere.
    reported = only(workshop.warnings(environment={"WATCH_NAMESPACE": "one"}))
    assert "`books.demo.example.com`" in reported
    assert "`demos.demo.example.com`" not in reported


def test_deployment_may_say_that_one_namespace_is_watched(workshop: Workshop) -> None:
    workshop.write(BINDING, SOUND[BINDING].replace("ClusterRoleBinding", "RoleBinding"))
    workshop.write(
        "config/manager/manager.yaml",
        "kind: Deployment\nspec: {template: {spec: {containers: [{env: ["
        "{name: OTHER}, {name: WATCH_NAMESPACE, valueFrom: {fieldRef: {}}}]}]}}}\n",
    )

    assert "`demos.demo.example.com`" not in only(workshop.warnings())


def test_rules_for_certain_names_do_not_count(workshop: Workshop) -> None:
    workshop.replace(ROLE, VERBS, f"{VERBS}\n    resourceNames: [one]")

    assert any("not allowed to get, list, watch `demos" in error for error in workshop.errors())


@pytest.mark.parametrize("kind", ["User", "Group"])
def test_roles_of_people_do_not_count(kind: str, workshop: Workshop) -> None:
    workshop.replace(BINDING, "kind: ServiceAccount", f"kind: {kind}")

    assert "binds no role to a service account" in only(workshop.warnings())


def test_bound_role_that_is_elsewhere_makes_it_a_guess(workshop: Workshop) -> None:
    workshop.replace(BINDING, "name: manager-role}", "name: cluster-admin}")

    assert workshop.errors() == []
    assert "role `cluster-admin` is bound, but is not in this folder" in workshop.warnings()[0]


def test_project_without_rbac_is_noted_not_blamed(workshop: Workshop) -> None:
    for path in (workshop.folder / "config/rbac").iterdir():
        path.unlink()
    (workshop.folder / "config/rbac").rmdir()

    found = workshop.check()

    assert found.problems == []
    assert "RBAC was not checked" in only(found.notes)


def test_folder_that_was_named_must_be_there(workshop: Workshop) -> None:
    assert "deploy: is not a folder" in only(workshop.errors(rbac=Path("deploy")))
