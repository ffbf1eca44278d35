"""`tools/check_crds.py` finds each way in which a kind can disagree with itself."""

from __future__ import annotations

import copy
import importlib.util
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_crds", ROOT / "tools/check_crds.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = _tool()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the check reads, to be broken."""
    for folder in ("crds", "roles", "playbooks", "config", "docs/kinds"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "watches.yaml", tmp_path)
    return tmp_path


def crd(checkout: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((checkout / "crds/demovolumes.yaml").read_text())
    return loaded


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_this_checkout_agrees_with_itself() -> None:
    assert list(tool.disagreements(ROOT)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("watches.yaml", "DemoVolume", "Other", "nothing in watches.yaml watches DemoVolume"),
        (
            "roles/demovolume/defaults/main.yml",
            "_spec.size",
            "_spec.bigness",
            "spec.bigness is read but is not in the CRD",
        ),
        (
            "crds/demovolumes.yaml",
            "                size:\n                  description: Size",
            "                bulk:\n                  description: Size",
            "no default reads spec.bulk",
        ),
        (
            "roles/demovolume/meta/argument_specs.yml",
            "      demovolume_retry:",
            "      demovolume_pause:",
            "`demovolume_retry` is missing in argument_specs.yml",
        ),
        (
            "roles/demovolume/defaults/main.yml",
            "# Size in GiB (spec.size).\n",
            "",
            "`demovolume_size` has no line above it",
        ),
        (
            "roles/demovolume/README.md",
            "`demovolume_size`",
            "size",
            "does not name `demovolume_size`",
        ),
        ("config/samples/demovolume.yaml", "size: 1", "size: 0", "0 is less than the minimum of 1"),
        ("config/samples/demovolume.yaml", "size: 1", "syze: 1", "'syze' was unexpected"),
        ("config/samples/demovolume.yaml", "dev/v1", "dev/v2", "the CRD is demo.rolecall.dev/v1"),
        ("config/rbac/role.yaml", "demovolumes/status", "others", "`get` on demovolumes/status"),
        (
            "watches.yaml",
            "version: v1\n  kind: Demo",
            "version: v2\n  kind: Demo",
            "at v2, and not",
        ),
        (
            "crds/demovolumes.yaml",
            "                size:\n                  description: ",
            "                size:\n                  title: ",
            "spec.size of DemoVolume has no description",
        ),
        ("docs/kinds/demovolume.md", "`capacity`", "capacity", "does not name status.capacity"),
    ],
)
def test_disagreement_is_found_and_named(
    checkout: Path, file: str, old: str, new: str, said: str
) -> None:
    replace(checkout / file, old, new)

    assert said in "\n".join(tool.disagreements(checkout))


def test_missing_sample_is_found(checkout: Path) -> None:
    (checkout / "config/samples/mapping.yaml").unlink()

    assert list(tool.disagreements(checkout)) == ["config/samples/mapping.yaml: is missing"]


def test_wider_crd_breaks_no_user(checkout: Path) -> None:
    old, new = crd(checkout), crd(checkout)
    spec = new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["size"]["maximum"] += 1
    spec["properties"]["color"] = {"type": "string"}

    assert list(tool.incompatible(old, new)) == []


def test_narrower_crd_is_named_field_by_field(checkout: Path) -> None:
    old = crd(checkout)
    new = copy.deepcopy(old)
    spec = new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["size"]["minimum"] = 5
    del spec["properties"]["name"]
    spec["required"].append("color")

    assert list(tool.incompatible(old, new)) == [
        "v1.spec: `color` is required now",
        "v1.spec: field `name` is gone",
        "v1.spec.size: minimum was 1, is 5",
    ]


def test_other_pattern_and_new_rule_are_named(checkout: Path) -> None:
    old = crd(checkout)
    new = copy.deepcopy(old)
    spec = new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["name"]["pattern"] = "^a"
    rule = {"rule": "self < 9", "message": "too much"}
    spec["properties"]["size"].setdefault("x-kubernetes-validations", []).append(rule)

    assert list(tool.incompatible(old, new)) == [
        "v1.spec.name: pattern was None, is ^a",
        "v1.spec.size: rule `self < 9` is new",
    ]


def test_version_that_is_not_served_any_more_is_named(checkout: Path) -> None:
    old, new = crd(checkout), crd(checkout)
    new["spec"]["versions"][0]["name"] = "v2"

    assert list(tool.incompatible(old, new)) == ["version v1 is not served any more"]
