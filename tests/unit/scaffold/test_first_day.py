"""What a new project has for editors, for CI, and for machines that cannot reach Galaxy."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from rolecall_dev.checks import watches_schema
from tests.unit.scaffold.conftest import create_api

ROOT = Path(__file__).parents[3]


def test_first_line_of_watches_names_the_schema_beside_it(project: Path) -> None:
    first = (project / "watches.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=watches.schema.json"
    assert json.loads((project / "watches.schema.json").read_text()) == watches_schema()


def test_create_renews_the_schema_of_an_older_engine(project: Path) -> None:
    (project / "watches.schema.json").write_text("{}")
    assert create_api() == 0
    assert json.loads((project / "watches.schema.json").read_text()) == watches_schema()
    assert (project / "watches.yaml").read_text().startswith("# yaml-language-server: ")


def test_create_adds_no_schema_to_a_project_without(project: Path) -> None:
    (project / "watches.schema.json").unlink()
    assert create_api() == 0
    assert not (project / "watches.schema.json").exists()


def test_ci_runs_targets_that_exist_after_installing_what_they_need(project: Path) -> None:
    workflow = yaml.safe_load((project / ".github" / "workflows" / "ci.yml").read_text())
    assert list(workflow["jobs"]) == ["check", "test"]
    targets = (project / "Makefile").read_text()
    for job in workflow["jobs"].values():
        commands = [step["run"] for step in job["steps"] if "run" in step]
        assert commands[0] == "pip install -r requirements-dev.txt"
        for command in commands:
            program, _, words = command.partition(" ")
            assert program in ("pip", "make", "rolecall")
            if program == "make":
                assert all(f"\n{word}:" in targets for word in words.split())
        uses = {step["uses"].split("@")[0] for step in job["steps"] if "uses" in step}
        assert uses <= {"actions/checkout", "actions/setup-python", "actions/cache"}
    assert "rolecall[dev]==" in (project / "requirements-dev.txt").read_text()


def test_fallback_is_pinned_as_that_of_this_repository(project: Path) -> None:
    lock = tomllib.loads((ROOT / "lock" / "collections.toml").read_text())["fallback"]
    text = (project / "hack" / "collections_from_pypi.py").read_text()
    assert f'"{lock["package"]}=={lock["version"]}"' in text
    assert f'"{lock["sha256"]}"' in text
    ours = yaml.safe_load((ROOT / "requirements.yml").read_text())
    assert yaml.safe_load((project / "requirements.yml").read_text()) == ours


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """A folder in place of PyPI, with a package that contains two collections."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    with zipfile.ZipFile(folder / "ansible-1.0-py3-none-any.whl", "w") as wheel:
        for name, version in (("kubernetes/core", "6.2.0"), ("community/other", "1.0.0")):
            manifest = {"collection_info": {"version": version}}
            wheel.writestr(f"ansible_collections/{name}/MANIFEST.json", json.dumps(manifest))
    return folder


def test_without_galaxy_only_the_wanted_collections_are_taken_from_the_package(
    project: Path, wheels: Path
) -> None:
    done = _fallback(project, wheels)
    assert done.returncode == 0, done.stderr
    assert "kubernetes.core 6.2.0 from PyPI package" in done.stdout
    found = [path.name for path in (project / ".collections" / "ansible_collections").iterdir()]
    assert found == ["kubernetes"]


def test_fallback_refuses_another_version_than_the_wanted_one(project: Path, wheels: Path) -> None:
    requirements = project / "requirements.yml"
    requirements.write_text(requirements.read_text().replace("6.2.0", "9.9.9"))
    done = _fallback(project, wheels)
    assert done.returncode != 0
    assert "contains kubernetes.core 6.2.0; requirements.yml wants 9.9.9" in done.stderr
    assert not (project / ".collections").exists()


def _fallback(project: Path, wheels: Path) -> subprocess.CompletedProcess[str]:
    """`make collections` with a Galaxy that fails, and a pip that copies the wheel."""
    script = project / "hack" / "collections_from_pypi.py"
    (wheel,) = wheels.iterdir()
    text = script.read_text().replace(
        "downloaded(scratch)", f"shutil.copy({str(wheel)!r}, scratch)"
    )
    script.write_text(f"import shutil\n{text}")
    galaxy = shutil.which("false")
    words = (f"ANSIBLE_GALAXY={galaxy}", f"PYTHON={sys.executable}", "collections")
    command = ["make", "--no-print-directory", *words]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
