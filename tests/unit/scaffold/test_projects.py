"""What `rolecall init` and `rolecall create api` leave in a folder."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from rolecall.cli import commands, main
from tests.unit.scaffold.conftest import create_api, files, problems_of_check

SDK_PROJECT = Path(__file__).parents[2] / "e2e" / "project"
TREE = yaml.safe_load((Path(__file__).parents[2] / "data" / "scaffold_tree.yaml").read_text())


def test_tree_is_the_one_that_users_of_the_sdk_know(project: Path) -> None:
    assert not set(TREE["init"]) - set(files(project))
    assert create_api() == 0
    assert not set(TREE["create"]) - set(files(project))


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--finalizer",),
        ("--generate-role",),
        ("--generate-playbook",),
        ("--generate-role", "--generate-playbook", "--finalizer"),
        ("--plural", "memcaches"),
    ],
)
def test_generated_project_passes_its_own_check(project: Path, flags: tuple[str, ...]) -> None:
    assert create_api(*flags) == 0
    assert problems_of_check() == []


def test_every_file_is_filled_in_and_every_yaml_file_parses(project: Path) -> None:
    assert create_api("--generate-role", "--generate-playbook", "--finalizer") == 0
    for path, content in files(project).items():
        text = content.decode()
        assert "<<" not in text and "__" not in path, path
        if path.endswith((".yaml", ".yml")):
            list(yaml.safe_load_all(text))


def test_one_command_makes_project_and_kind(folder: Path) -> None:
    names = ["--group", "cache", "--version", "v1", "--kind", "Memcached", "--plugins", "ansible"]
    assert main(["init", "--domain", "example.com", *names]) == 0
    assert yaml.safe_load((folder / "watches.yaml").read_text())[0]["role"] == "memcached"
    assert yaml.safe_load((folder / "PROJECT").read_text())["resources"][0]["kind"] == "Memcached"


def test_second_kind_leaves_the_first_as_it_was(project: Path) -> None:
    assert create_api() == 0
    watches = (project / "watches.yaml").read_text()
    commented = watches.replace("  role: memcached", "  role: memcached  # ours, see #12")
    (project / "watches.yaml").write_text(commented)
    before = files(project)
    assert create_api(kind="Redis") == 0
    after = files(project)
    assert "role: memcached  # ours, see #12\n" in after["watches.yaml"].decode()
    assert [entry["kind"] for entry in yaml.safe_load(after["watches.yaml"])] == [
        "Memcached",
        "Redis",
    ]
    may_change = {"PROJECT", "watches.yaml", "config/rbac/role.yaml"} | {
        f"config/{folder}/kustomization.yaml" for folder in ("crd", "rbac", "samples")
    }
    assert {path for path in before if before[path] != after[path]} == may_change
    assert problems_of_check() == []


def test_project_of_the_sdk_gets_a_second_kind(folder: Path) -> None:
    shutil.copytree(SDK_PROJECT, folder, dirs_exist_ok=True)
    assert create_api(kind="Redis") == 0
    watches = (folder / "watches.yaml").read_text()
    assert [entry["kind"] for entry in yaml.safe_load(watches)] == ["Memcached", "Redis"]
    assert watches.startswith((SDK_PROJECT / "watches.yaml").read_text().split("#+kube")[0])
    role = (folder / "config" / "rbac" / "role.yaml").read_text()
    assert "  ## Rules for cache.example.com/v1alpha1, Kind: Memcached" in role
    assert "redises/status" in role
    assert main(["check"]) == 0


def test_role_that_is_there_is_used(project: Path) -> None:
    tasks = project / "roles" / "memcached" / "tasks"
    tasks.mkdir(parents=True)
    (tasks / "main.yml").write_text("---\n[]\n")
    assert create_api() == 0
    assert (tasks / "main.yml").read_text() == "---\n[]\n"
    assert yaml.safe_load((project / "watches.yaml").read_text())[0]["role"] == "memcached"


def test_no_rule_grants_everything(project: Path) -> None:
    assert create_api() == 0
    for path in (project / "config" / "rbac").glob("*.yaml"):
        document = yaml.safe_load(path.read_text())
        for rule in document.get("rules") or []:
            assert "*" not in rule.get("resources", []), path
            assert "secrets" not in rule.get("resources", []), path
            assert "*" not in rule["verbs"] or "admin" in path.name, path


def test_make_test_looks_for_what_goes_wrong_in_between_once_there_is_a_sample(
    project: Path,
) -> None:
    assert "rolecall test --budget" not in _would_run(project, "test")
    assert create_api() == 0
    assert "rolecall test --budget 5m --min-reached 50\n" in _would_run(project, "test")
    longer = _would_run(project, "test", "BUDGET=9m", "REACHED=70")
    assert "rolecall test --budget 9m --min-reached 70\n" in longer
    assert ".rolecall-test/\n" in (project / ".gitignore").read_text()


def test_make_test_runs_pytest_once_there_is_a_test(project: Path) -> None:
    assert "pytest tests" not in _would_run(project, "test")
    assert create_api() == 0
    assert "pytest --tb=line --show-capture=no tests" in _would_run(project, "test")
    assert "molecule" not in _would_run(project, "test-quick")


def test_tests_of_a_new_kind_name_nothing_that_its_role_makes(project: Path) -> None:
    """So they hold after the role is replaced."""
    assert create_api() == 0
    for path in ("tests/test_memcached.py", "molecule/default/tasks/memcached_test.yml"):
        text = (project / path).read_text()
        assert "ConfigMap" not in text and "configmap" not in text and "-message" not in text


def _would_run(project: Path, *words: str) -> str:
    made = subprocess.run(
        ["make", "--dry-run", *words], cwd=project, capture_output=True, text=True, check=True
    )
    return made.stdout


def test_makefile_names_only_commands_that_exist(project: Path) -> None:
    for line in (project / "Makefile").read_text().splitlines():
        for word in line.split("$(ROLECALL) ")[1:]:
            assert word.split()[0] in commands(), line
