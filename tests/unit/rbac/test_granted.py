"""`rolecall rbac` writes what is needed, and `--check` reports more and less than that."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rolecall.cli import main

ROOT = Path(__file__).parents[3]
ROLE = Path("config/rbac/role.yaml")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One kind, as the scaffold makes it."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    names = ["--group", "cache", "--version", "v1", "--kind", "Memcached"]
    assert main(["init", "--domain", "example.com", *names, "--finalizer"]) == 0
    return folder


def test_scaffold_grants_what_its_role_needs_and_nothing_more(project: Path) -> None:
    assert main(["rbac", "--check"]) == 0


def test_own_operator_grants_what_its_roles_need_and_nothing_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["rbac", "--check"]) == 0
    assert "`pods/exec` is near to admin" in capsys.readouterr().err


def test_written_role_passes_the_check_and_is_written_the_same_again(project: Path) -> None:
    assert main(["rbac"]) == 0
    written = ROLE.read_text()
    assert yaml.safe_load(written)["metadata"]["name"] == "manager-role"
    assert main(["rbac", "--check"]) == 0
    assert main(["rbac"]) == 0
    assert ROLE.read_text() == written


def test_kind_can_still_be_added_to_a_written_role(project: Path) -> None:
    assert main(["rbac"]) == 0
    names = ["--group", "cache", "--version", "v1", "--kind", "Redis"]
    assert main(["create", "api", *names]) == 0
    assert main(["rbac", "--check"]) == 0


def test_unneeded_right_is_named_with_its_rule(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    role = yaml.safe_load(ROLE.read_text())
    role["rules"].append({"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]})
    ROLE.write_text(yaml.safe_dump(role))
    assert main(["rbac", "--check"]) == 2
    out = capsys.readouterr().out
    assert "config/rbac/role.yaml, rule 5: allows more than is needed: * secrets" in out


def test_right_that_is_missing_is_named_with_who_needs_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    role = yaml.safe_load(ROLE.read_text())
    del role["rules"][3]
    ROLE.write_text(yaml.safe_dump(role))
    assert main(["rbac", "--check"]) == 2
    said = "not allowed to create configmaps, which is needed by roles/memcached/tasks/apply.yml:3"
    assert said in capsys.readouterr().out


def test_role_with_a_reason_is_taken_as_wanted(project: Path) -> None:
    (project / "config/rbac/extra.yaml").write_text(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n"
        "metadata: {name: extra, annotations: {rolecall.dev/because: helm charts make Secrets}}\n"
        "rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]\n---\n"
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n"
        "metadata: {name: extra}\nroleRef: {kind: ClusterRole, name: extra}\n"
        "subjects: [{kind: ServiceAccount, name: controller-manager, namespace: system}]\n"
    )
    assert main(["rbac", "--check"]) == 0


def test_role_of_one_namespace_can_be_asked_for(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["rbac", "--scope", "namespace", "--output", "-"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["kind"] == "Role"


def add_task(project: Path, kind: str, group: str) -> None:
    """The role looks at an object of a kind that belongs to no namespace."""
    tasks = project / "roles" / "memcached" / "tasks" / "apply.yml"
    lines = (
        "- name: Look",
        "  kubernetes.core.k8s_info:",
        f"    api_version: {group}",
        f"    kind: {kind}",
        "    name: fast",
    )
    tasks.write_text(tasks.read_text().rstrip() + "\n\n" + "\n".join(lines) + "\n")


def test_kinds_of_no_namespace_get_a_cluster_role_beside_the_role(project: Path) -> None:
    add_task(project, "StorageClass", "storage.k8s.io/v1")
    assert main(["rbac"]) == 0
    role = yaml.safe_load(ROLE.read_text())
    assert (role["kind"], role["metadata"]["namespace"]) == ("Role", "system")
    beside = yaml.safe_load(ROLE.with_name("cluster_role.yaml").read_text())
    assert (beside["kind"], beside["metadata"]["name"]) == ("ClusterRole", "manager-cluster-role")
    assert [rule["resources"] for rule in beside["rules"]] == [["storageclasses"]]
    assert "storageclasses" not in ROLE.read_text()
    assert main(["rbac", "--check"]) == 0


def test_right_that_a_role_cannot_grant_is_missing_where_only_a_role_has_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_task(project, "StorageClass", "storage.k8s.io/v1")
    role = yaml.safe_load(ROLE.read_text())
    rule = {"apiGroups": ["storage.k8s.io"], "resources": ["storageclasses"], "verbs": ["get"]}
    role["rules"].append(rule)
    ROLE.write_text(yaml.safe_dump(role))
    assert main(["rbac", "--check"]) == 2
    said = "not allowed to get storageclasses.storage.k8s.io in the whole cluster"
    assert said in capsys.readouterr().out


def test_first_cluster_role_of_a_project_is_reported_to_be_bound(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_task(project, "StorageClass", "storage.k8s.io/v1")
    ROLE.with_name("cluster_role.yaml").unlink()
    capsys.readouterr()
    assert main(["rbac"]) == 0
    assert "bind its ClusterRole by a ClusterRoleBinding" in capsys.readouterr().err


def test_project_whose_rights_are_cluster_wide_keeps_them_in_one_cluster_role(
    project: Path,
) -> None:
    add_task(project, "StorageClass", "storage.k8s.io/v1")
    assert main(["rbac", "--scope", "cluster"]) == 0
    assert yaml.safe_load(ROLE.read_text())["kind"] == "ClusterRole"
    assert "storageclasses" in ROLE.read_text()


@pytest.mark.parametrize(
    ("scope", "reach"),
    [("cluster", "all namespaces"), ("namespace", "the namespaces where the Role is bound")],
)
def test_right_to_exec_is_reported_as_close_to_admin(
    project: Path, capsys: pytest.CaptureFixture[str], scope: str, reach: str
) -> None:
    tasks = project / "roles" / "memcached" / "tasks" / "apply.yml"
    tasks.write_text("- kubernetes.core.k8s_exec: {pod: x, namespace: y, command: z}\n")
    assert main(["rbac", "--output", "-", "--scope", scope]) == 0
    said = capsys.readouterr()
    assert f"warning: `pods/exec` is near to admin of all pods in {reach}: " in said.err
    assert "needed by roles/memcached/tasks/apply.yml:1" in said.err
    assert "hint: grant it by a Role in the namespaces that need it" in said.err
    assert "  # Near to admin: a command in a pod" in said.out


def test_roles_that_stay_out_of_pods_bring_no_warning(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert project
    assert main(["rbac", "--output", "-"]) == 0
    assert "warning" not in capsys.readouterr().err
