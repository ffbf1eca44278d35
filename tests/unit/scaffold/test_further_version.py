"""A second version of a kind: added to what is there, and nothing of the first is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.unit.scaffold.conftest import create_api, files, problems_of_check

CRD = Path("config/crd/bases/cache.example.com_memcacheds.yaml")


@pytest.fixture
def kind(project: Path) -> Path:
    assert create_api() == 0
    return project


@pytest.mark.parametrize("flags", [(), ("--force",)])
def test_crd_serves_both_and_stores_the_first(kind: Path, flags: tuple[str, ...]) -> None:
    first = yaml.safe_load(CRD.read_text())["spec"]["versions"][0]

    assert create_api(*flags, version="v1beta1") == 0

    versions = yaml.safe_load(CRD.read_text())["spec"]["versions"]
    assert versions == [first, {**first, "name": "v1beta1", "storage": False}]


def test_comments_in_the_crd_stay(kind: Path) -> None:
    CRD.write_text(CRD.read_text() + "# the end\n")
    before = CRD.read_text()

    assert create_api(version="v1beta1") == 0

    assert set(before.splitlines()) <= set(CRD.read_text().splitlines())


def test_watch_stays_one_and_the_user_sees_why(
    kind: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (kind / "watches.yaml").read_text()
    capsys.readouterr()

    assert create_api(version="v1beta1") == 0

    assert (kind / "watches.yaml").read_text() == before
    out = capsys.readouterr().out
    assert "Memcached is served in v1alpha1, v1beta1 now. watches.yaml keeps its one entry" in out


def test_only_crd_sample_conversions_and_their_manifests_change(kind: Path) -> None:
    before = files(kind)

    assert create_api(version="v1beta1") == 0

    after = files(kind)
    changed = {name for name in after if after[name] != before.get(name)}
    assert {name for name in changed if not name.startswith("config/webhooks/")} == {
        "PROJECT",
        "config/default/kustomization.yaml",
        "conversions.yaml",
        str(CRD),
        "config/samples/cache_v1beta1_memcached.yaml",
        "config/samples/kustomization.yaml",
    }
    sample = yaml.safe_load(after["config/samples/cache_v1beta1_memcached.yaml"])
    assert sample["apiVersion"] == "cache.example.com/v1beta1"
    assert sample["metadata"]["name"] == "memcached-v1beta1-sample"
    assert sample["spec"] == {"message": "hello"}
    kept = yaml.safe_load(after["PROJECT"])["resources"]
    assert [row["version"] for row in kept] == ["v1alpha1", "v1beta1"]


def test_project_with_more_versions_passes_its_own_check(kind: Path) -> None:
    for version in ("v1beta1", "v1"):
        assert create_api(version=version) == 0
        assert problems_of_check() == []
    (entry,) = yaml.safe_load((kind / "conversions.yaml").read_text())
    assert [(it["older"], it["newer"], it["rules"]) for it in entry["steps"]] == [
        ("v1alpha1", "v1beta1", []),
        ("v1beta1", "v1", []),
    ]


def test_rules_that_are_there_stay(kind: Path) -> None:
    assert create_api(version="v1beta1") == 0
    rule = "[{values: spec.message, map: {hello: bye}}]"
    conversions = kind / "conversions.yaml"
    conversions.write_text(conversions.read_text().replace("rules: []", f"rules: {rule}"))
    assert create_api(version="v1") == 0
    assert f"rules: {rule}" in conversions.read_text()
    steps = yaml.safe_load(conversions.read_text())[0]["steps"]
    assert [step["newer"] for step in steps] == ["v1beta1", "v1"]


def test_forced_first_version_does_not_drop_the_second(kind: Path) -> None:
    del kind
    assert create_api(version="v1beta1") == 0
    before = CRD.read_text()

    assert create_api("--force") == 0

    assert CRD.read_text() == before


def test_version_that_is_there_is_refused(kind: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(kind)

    assert create_api() == 2

    assert "is in PROJECT already" in capsys.readouterr().err
    assert files(kind) == before


@pytest.mark.parametrize("flag", ["--finalizer", "--generate-playbook"])
def test_flags_of_a_new_kind_are_refused(
    kind: Path, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(kind)

    assert create_api(flag, version="v1beta1") == 2

    assert f"`{flag}` is for a new kind" in capsys.readouterr().err
    assert files(kind) == before


def test_crd_in_flow_style_is_left_to_the_person(
    kind: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    CRD.write_text(yaml.safe_dump(yaml.safe_load(CRD.read_text()), default_flow_style=True))
    before = files(kind)

    assert create_api(version="v1beta1") == 2

    assert "could not be extended without rewriting it" in capsys.readouterr().err
    assert files(kind) == before
