"""`prune` and `skipUnchanged` keep things in the operator's namespace, by a Role of their own there."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rolecall.cli import main

FOLDER = Path("config/rbac")
STORE = FOLDER / "store_role.yaml"
ROLE = FOLDER / "role.yaml"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One kind, whose role makes no ConfigMap."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    names = ["--group", "cache", "--version", "v1", "--kind", "Memcached"]
    assert main(["init", "--domain", "example.com", *names]) == 0
    for file in Path("roles/memcached/tasks").iterdir():
        file.write_text("- name: Say hello\n  ansible.builtin.debug:\n    msg: hello\n")
    return folder


def ask_for(**keys: object) -> None:
    """Set keys of the one watch."""
    (watch,) = yaml.safe_load(Path("watches.yaml").read_text())
    Path("watches.yaml").write_text(yaml.safe_dump([{**watch, **keys}]))


def verbs() -> list[str]:
    """What the Role allows with ConfigMaps."""
    role, binding = yaml.safe_load_all(STORE.read_text())
    assert (role["kind"], binding["kind"]) == ("Role", "RoleBinding")
    assert role["metadata"]["namespace"] == binding["metadata"]["namespace"] == "system"
    assert binding["roleRef"]["name"] == role["metadata"]["name"] == "manager-store-role"
    assert binding["subjects"][0]["name"] == "controller-manager"
    assert all(rule["resources"] == ["configmaps"] for rule in role["rules"])
    return [verb for rule in role["rules"] for verb in rule["verbs"]]


def test_there_is_no_such_role_where_nothing_is_kept(project: Path) -> None:
    assert main(["rbac"]) == 0
    assert not STORE.exists()


def test_skip_unchanged_gets_what_its_store_uses_and_no_more(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask_for(skipUnchanged=True)
    assert main(["rbac"]) == 0
    assert verbs() == ["get", "create", "patch"]
    assert "configmaps" not in ROLE.read_text()
    assert "store_role.yaml is new; add it to config/rbac/kustomization" in capsys.readouterr().err
    assert main(["rbac", "--check"]) == 0
    assert main(["check"]) == 0
    assert "configmaps" not in capsys.readouterr().out


def test_prune_gets_what_its_store_uses(project: Path) -> None:
    ask_for(prune=True, skipUnchanged=True)
    assert main(["rbac"]) == 0
    assert verbs() == ["get", "list", "create", "patch", "update", "delete"]
    assert main(["rbac", "--check"]) == 0


def test_a_store_without_rights_is_reported_by_both_checks(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask_for(skipUnchanged=True)
    assert main(["rbac", "--output", "config/rbac/role.yaml"]) == 0
    STORE.unlink()
    capsys.readouterr()
    assert main(["rbac", "--check"]) == 2
    said = "not allowed to create configmaps, which is needed by unchanged runs, for Memcached"
    assert said in capsys.readouterr().out
    main(["check"])
    reported = capsys.readouterr()
    said = "not allowed to get, create, patch `configmaps`, so a restart runs each Memcached"
    assert said in reported.out + reported.err


def test_config_maps_of_the_whole_cluster_are_more_than_a_store_needs(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask_for(skipUnchanged=True)
    assert main(["rbac", "--scope", "cluster"]) == 0
    role = yaml.safe_load(ROLE.read_text())
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create", "patch"]}
    role["rules"].append(rule)
    ROLE.write_text(yaml.safe_dump(role))
    binding = FOLDER / "role_binding.yaml"
    binding.write_text(binding.read_text().replace("kind: Role", "kind: ClusterRole"))
    assert main(["rbac", "--check"]) == 2
    said = "allows more than is needed: get configmaps, create configmaps, patch configmaps"
    assert said in capsys.readouterr().out


def test_the_role_is_emptied_when_nothing_is_kept_any_more(project: Path) -> None:
    ask_for(skipUnchanged=True)
    assert main(["rbac"]) == 0
    ask_for(skipUnchanged=False)
    assert main(["rbac", "--check"]) == 2
    assert main(["rbac"]) == 0
    assert next(yaml.safe_load_all(STORE.read_text()))["rules"] == []
    assert main(["rbac", "--check"]) == 0
