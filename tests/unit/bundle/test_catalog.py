"""Catalogs: channels, upgrade edges, and what was published stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.cli import main
from rolecall_dev.bundle.version import is_in_range
from tests.unit.bundle.conftest import WriteBundle, change_csv, csv_path


def publish(version: str) -> int:
    return main(["catalog", "--bundle-image", f"example.com/bundle:v{version}"])


def channel(project: Path, name: str) -> list[dict[str, Any]]:
    text = (project / "catalog" / "memcached-operator" / "catalog.yaml").read_text()
    (found,) = [
        it
        for it in yaml.safe_load_all(text)
        if it["schema"] == "olm.channel" and it["name"] == name
    ]
    entries: list[dict[str, Any]] = found["entries"]
    return entries


def test_next_version_gets_an_upgrade_edge(project: Path, write_bundle: WriteBundle) -> None:
    assert write_bundle("0.9.0") == 0
    assert publish("0.9.0") == 0
    assert write_bundle("0.10.0", "--replaces", "0.9.0", "--channels", "candidate") == 0
    assert publish("0.10.0") == 0
    assert channel(project, "candidate") == [
        {"name": "memcached-operator.v0.9.0"},
        {"name": "memcached-operator.v0.10.0", "replaces": "memcached-operator.v0.9.0"},
    ]


def test_same_bundle_again_changes_nothing(project: Path, write_bundle: WriteBundle) -> None:
    assert write_bundle("0.1.0") == 0
    assert publish("0.1.0") == 0
    file = project / "catalog" / "memcached-operator" / "catalog.yaml"
    before = file.read_text()
    assert publish("0.1.0") == 0
    assert file.read_text() == before


@pytest.mark.parametrize(
    ("bundle", "published_as", "said"),
    [
        (("0.1.0",), "0.1.0-again", "is published already"),
        (("0.2.0",), "0.2.0", "does not replace a version"),
        (("0.3.0", "--replaces", "0.2.0"), "0.3.0", "which is not in the channel"),
    ],
)
def test_entry_that_would_strand_users_is_refused(
    project: Path,
    write_bundle: WriteBundle,
    bundle: tuple[str, ...],
    published_as: str,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert write_bundle("0.1.0") == 0
    assert publish("0.1.0") == 0
    assert write_bundle(*bundle) == 0
    before = (project / "catalog" / "memcached-operator" / "catalog.yaml").read_text()
    assert publish(published_as) == 2
    assert said in capsys.readouterr().err
    assert (project / "catalog" / "memcached-operator" / "catalog.yaml").read_text() == before


def catalog_path(project: Path) -> Path:
    return project / "catalog" / "memcached-operator" / "catalog.yaml"


def blobs(project: Path, schema: str) -> list[dict[str, Any]]:
    documents = yaml.safe_load_all(catalog_path(project).read_text())
    return [it for it in documents if it["schema"] == schema]


def test_catalog_says_of_a_bundle_all_that_its_page_shows(
    project: Path, write_bundle: WriteBundle
) -> None:
    assert write_bundle("0.1.0") == 0
    assert publish("0.1.0") == 0
    csv = yaml.safe_load(csv_path(project).read_text())
    (package,) = blobs(project, "olm.package")
    assert package["icon"] == csv["spec"]["icon"][0]
    assert package["description"] == csv["spec"]["description"]
    (bundle,) = blobs(project, "olm.bundle")
    (shown,) = [it["value"] for it in bundle["properties"] if it["type"] == "olm.csv.metadata"]
    for key in ("description", "displayName", "provider", "keywords", "links", "maintainers"):
        assert shown[key] == csv["spec"][key]
    assert shown["crdDescriptions"] == csv["spec"]["customresourcedefinitions"]
    assert shown["annotations"]["alm-examples"] == csv["metadata"]["annotations"]["alm-examples"]
    assert shown["labels"]["operatorframework.io/arch.arm64"] == "supported"


DEPRECATIONS = {
    "schema": "olm.deprecations",
    "package": "memcached-operator",
    "entries": [
        {
            "reference": {"schema": "olm.bundle", "name": "memcached-operator.v0.1.0"},
            "message": "take 0.2.0, which keeps its memory",
        }
    ],
}


def test_what_a_person_wrote_into_the_catalog_stays(
    project: Path, write_bundle: WriteBundle
) -> None:
    assert write_bundle("0.1.0") == 0
    assert publish("0.1.0") == 0
    documents = list(yaml.safe_load_all(catalog_path(project).read_text()))
    icon = {"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}
    documents[0] |= {"icon": icon, "description": "by hand", "properties": [{"type": "x"}]}
    catalog_path(project).write_text(yaml.safe_dump_all([*documents, DEPRECATIONS]))
    assert write_bundle("0.2.0", "--replaces", "0.1.0") == 0
    assert publish("0.2.0") == 0
    (package,) = blobs(project, "olm.package")
    assert (package["icon"], package["description"]) == (icon, "by hand")
    assert package["properties"] == [{"type": "x"}]
    assert blobs(project, "olm.deprecations") == [DEPRECATIONS]


def test_generated_description_follows_the_bundle(project: Path, write_bundle: WriteBundle) -> None:
    assert write_bundle("0.1.0") == 0
    assert publish("0.1.0") == 0
    assert write_bundle("0.2.0", "--replaces", "0.1.0") == 0
    change_csv(project, lambda csv: csv["spec"].update(description="new words"))
    assert publish("0.2.0") == 0
    assert blobs(project, "olm.package")[0]["description"] == "new words"


def with_range(csv: dict[str, Any], text: str) -> None:
    csv["metadata"]["annotations"]["olm.skipRange"] = text


def test_range_alone_leads_all_users_to_the_next_version(
    project: Path, write_bundle: WriteBundle
) -> None:
    assert write_bundle("0.1.0") == 0
    assert publish("0.1.0") == 0
    assert write_bundle("0.2.0") == 0
    change_csv(project, lambda csv: with_range(csv, ">=0.1.0 <0.2.0"))
    assert publish("0.2.0") == 0
    head = {
        "name": "memcached-operator.v0.2.0",
        "skips": ["memcached-operator.v0.1.0"],
        "skipRange": ">=0.1.0 <0.2.0",
    }
    assert channel(project, "candidate") == [{"name": "memcached-operator.v0.1.0"}, head]


def test_skips_alone_lead_from_the_versions_that_they_name(
    project: Path, write_bundle: WriteBundle
) -> None:
    assert write_bundle("0.1.0") == 0
    assert publish("0.1.0") == 0
    assert write_bundle("0.2.0") == 0
    skipped = ["memcached-operator.v0.1.0"]
    change_csv(project, lambda csv: csv["spec"].update(skips=skipped))
    assert publish("0.2.0") == 0
    assert channel(project, "candidate")[1]["skips"] == skipped


def test_range_that_leaves_the_newest_out_is_refused_with_file_and_field(
    project: Path, write_bundle: WriteBundle, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write_bundle("0.1.0") == 0
    assert publish("0.1.0") == 0
    assert write_bundle("0.2.0") == 0
    change_csv(project, lambda csv: with_range(csv, "<0.1.0"))
    assert publish("0.2.0") == 2
    said = capsys.readouterr().err
    assert "catalog/memcached-operator/catalog.yaml: channel `candidate`: olm.skipRange" in said
    assert "does not take in `memcached-operator.v0.1.0`" in said


def test_second_newest_entry_is_refused(
    project: Path, write_bundle: WriteBundle, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write_bundle("0.1.0") == 0
    assert publish("0.1.0") == 0
    for version in ("0.2.0", "0.3.0"):
        assert write_bundle(version, "--replaces", "0.1.0") == 0
        code = publish(version)
    assert code == 2
    assert "does not follow `memcached-operator.v0.2.0`" in capsys.readouterr().err


def test_all_faults_of_a_catalog_are_reported_with_line_and_field(
    project: Path, write_bundle: WriteBundle, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write_bundle("0.1.0") == 0
    catalog_path(project).parent.mkdir(parents=True)
    catalog_path(project).write_text(
        "---\nschema: olm.package\nname: other\nicon: {base64data: '*', mediatype: image/png}\n"
        "---\nschema: olm.channel\npackage: memcached-operator\nname: candidate\n"
        "entries: [{name: first, skips: no}]\n"
        "---\nname: lost\n"
    )
    before = catalog_path(project).read_text()
    assert publish("0.1.0") == 2
    said = capsys.readouterr().err
    file = "catalog/memcached-operator/catalog.yaml"
    assert f"{file}:2: olm.package is of package `other`" in said
    assert f"{file}:2: olm.package.icon.base64data is not base64" in said
    assert f"{file}:6: olm.channel.entries[0].skips is `false`, and must be an array" in said
    assert f"{file}:6: olm.channel: name `first` does not end with" in said
    assert f"{file}:11: has no `schema`" in said
    assert catalog_path(project).read_text() == before


@pytest.mark.parametrize(
    ("version", "text", "expected"),
    [
        ("1.2.3", ">=1.0.0 <1.4.0", True),
        ("1.4.0", ">=1.0.0 <1.4.0", False),
        ("1.4.0-rc.1", ">=1.0.0 <1.4.0", True),
        ("0.9.7", ">= 1.0.0 || 0.9.x", True),
        ("0.8.0", ">=1.0.0 || 0.9.x", False),
        ("2.0.0", "1.x || !2.0.0", False),
        ("1.3.0", "<=1.2.x", False),
        ("1.3.0", ">1.2.x", True),
        ("1.2.3", "1.2.3", True),
        ("1.2.3", "!=1.2.3", False),
    ],
)
def test_range_holds_what_its_signs_say(version: str, text: str, expected: bool) -> None:
    assert is_in_range(version, text) is expected


def test_range_takes_in_all_that_would_be_stranded(
    project: Path, write_bundle: WriteBundle
) -> None:
    assert write_bundle("0.1.0") == 0
    assert publish("0.1.0") == 0
    assert write_bundle("0.2.0", "--replaces", "0.1.0") == 0
    assert publish("0.2.0") == 0
    assert write_bundle("0.3.0") == 0
    change_csv(project, lambda csv: with_range(csv, "<0.3.0"))
    assert publish("0.3.0") == 0
    (head,) = (row for row in channel(project, "candidate") if row["name"].endswith("0.3.0"))
    assert head["skips"] == ["memcached-operator.v0.1.0", "memcached-operator.v0.2.0"]
