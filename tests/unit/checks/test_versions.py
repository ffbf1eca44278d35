"""Versions that were shipped, samples at other versions, kinds that no watch has."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rolecall.cli import main

CRD = Path("config/crd/bases/tests.example.com_shops.yaml")
CONVERSIONS = """\
- group: tests.example.com
  kind: Shop
  steps:
    - older: v1
      newer: v2
      rules: [{values: spec.message, map: {hello: bye}}]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new one, whose kind has two versions, and whose bundle is that of the first."""
    monkeypatch.chdir(tmp_path)
    names = ["--group", "tests", "--kind", "Shop"]
    init = ["init", "--domain", "example.com", "--project-name", "shop-operator"]
    assert main([*init, *names, "--version", "v1"]) == 0
    shipped = tmp_path / "bundle" / "manifests" / CRD.name
    shipped.parent.mkdir(parents=True)
    shipped.write_text(CRD.read_text())
    assert main(["create", "api", *names, "--version", "v2"]) == 0
    Path("conversions.yaml").write_text(CONVERSIONS)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    capsys.readouterr()
    main(["check", *flags])
    return capsys.readouterr().out


@pytest.mark.usefixtures("project")
def test_version_that_was_shipped_may_not_simply_go(capsys: pytest.CaptureFixture[str]) -> None:
    assert "was shipped" not in said(capsys)
    crd = yaml.safe_load(CRD.read_text())
    first = crd["spec"]["versions"].pop(0)
    crd["spec"]["versions"][0]["storage"] = True
    CRD.write_text(yaml.safe_dump(crd))
    reported = said(capsys)
    assert (
        "`v1` of `Shop` was shipped in bundle/manifests as the version that is stored" in reported
    )
    assert "`rolecall migrate-storage` was run in each cluster" in reported
    crd["spec"]["versions"].insert(0, {**first, "storage": False, "served": False})
    CRD.write_text(yaml.safe_dump(crd))
    assert "was shipped" not in said(capsys)


@pytest.mark.usefixtures("project")
def test_sample_must_fit_at_every_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert "does not fit at" not in said(capsys)
    crd = yaml.safe_load(CRD.read_text())
    spec = crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["message"]["enum"] = ["hello", "goodbye"]
    CRD.write_text(yaml.safe_dump(crd))
    (line,) = (it for it in said(capsys).splitlines() if "does not fit at" in it)
    assert line.startswith("config/samples/")
    assert "this Shop does not fit at `v2`: spec.message" in line


@pytest.mark.usefixtures("project")
def test_converted_kind_without_a_watch_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    Path("conversions.yaml").write_text(CONVERSIONS.replace("Shop", "Shopp"))
    assert "no entry of watches.yaml watches it" in said(capsys)


@pytest.mark.usefixtures("project")
def test_more_round_trips_find_what_few_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert "came back" not in said(capsys, "--round-trips", "300")


@pytest.mark.usefixtures("project")
def test_fault_in_watches_is_not_reported_again_by_later_checks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    watches = Path("watches.yaml")
    watches.write_text(watches.read_text().replace("role: shop", "role: nosuch"))
    reported = said(capsys)
    assert "role: nosuch was not found" in reported
    assert "no CRD of kind" not in reported
    assert "not of these sources" not in reported
    assert "1 errors" in reported or "1 error" in reported


@pytest.mark.usefixtures("project")
def test_step_to_a_version_that_is_missing_hides_no_fault_of_another_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = "    - {older: v2, newer: v3, rules: []}\n"
    wrong = CONVERSIONS.replace("values: spec.message", "values: spec.massage")
    Path("conversions.yaml").write_text(wrong + more)
    reported = said(capsys)
    assert "version `v3` of `Shop` is not in its CRD" in reported
    assert "`spec.massage` is not in the schema of `v1`" in reported
