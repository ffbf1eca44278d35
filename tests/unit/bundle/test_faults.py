"""Faults of a bundle that OLM, or a user of it, would stumble over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rolecall.cli import main
from rolecall_dev.bundle.version import precedence
from tests.unit.bundle.conftest import WriteBundle, change_csv

Csv = dict[str, Any]


def deployment(csv: Csv) -> Csv:
    found: Csv = csv["spec"]["install"]["spec"]["deployments"][0]["spec"]["template"]["spec"]
    return found


def install(csv: Csv) -> Csv:
    found: Csv = csv["spec"]["install"]["spec"]
    return found


def grant_in_namespaces(csv: Csv, group: str, resource: str) -> None:
    rule = {"apiGroups": [group], "resources": [resource], "verbs": ["get"]}
    install(csv)["permissions"][0]["rules"].append(rule)


def owned(csv: Csv) -> Csv:
    found: Csv = csv["spec"]["customresourcedefinitions"]["owned"][0]
    return found


def examples(csv: Csv, text: str) -> None:
    csv["metadata"]["annotations"]["alm-examples"] = text


def skip(csv: Csv, text: str) -> None:
    csv["metadata"]["annotations"]["olm.skipRange"] = text


EXAMPLE = '[{"apiVersion": "cache.example.com/v1", "kind": "Memcached", "spec": %s}]'


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda csv: csv["spec"].update(version="1"), "version `1` is not a semantic version"),
        (lambda csv: csv["spec"].update(version="0.2.0"), "is not `memcached-operator.v0.2.0`"),
        (lambda csv: csv["spec"].update(replaces=csv["metadata"]["name"]), "replaces itself"),
        (lambda csv: csv["spec"].update(replaces="memcached-operator.v0.10.0"), "is not older"),
        (lambda csv: csv["spec"].update(replaces="other.v0.0.1"), "not a version of this package"),
        (lambda csv: csv["spec"].update(minKubeVersion="1.25"), "minKubeVersion `1.25`"),
        (
            lambda csv: csv["spec"]["customresourcedefinitions"].update(owned=[]),
            "the CSV does not own it",
        ),
        (
            lambda csv: csv["spec"]["customresourcedefinitions"]["owned"][0].update(version="v2"),
            "which no CRD of the bundle serves",
        ),
        (lambda csv: examples(csv, "{"), "alm-examples is not JSON"),
        (lambda csv: examples(csv, "[]"), "alm-examples holds no `Memcached`"),
        (lambda csv: examples(csv, EXAMPLE % "{}"), "Memcached.spec.message is missing"),
        (
            lambda csv: examples(csv, EXAMPLE % '{"message": 5}'),
            "and must be a string",
        ),
        (
            lambda csv: examples(csv, EXAMPLE % '{"message": "x", "colour": 1}'),
            "Memcached.spec.colour is not in the schema",
        ),
        (lambda csv: csv["spec"].update(installModes=[]), "installModes must name each of"),
        (lambda csv: deployment(csv).update(serviceAccountName="x"), "runs as `x`"),
        (
            lambda csv: install(csv).update(permissions=[]),
            "not allowed to get, list, watch `memcacheds`",
        ),
        (
            lambda csv: grant_in_namespaces(csv, "storage.k8s.io", "storageclasses"),
            "permissions[0].rules[6] is for namespaces, so it grants nothing of `storageclasses`",
        ),
        (
            lambda csv: grant_in_namespaces(csv, "", "nodes/proxy"),
            "so it grants nothing of `nodes`",
        ),
        (lambda csv: csv["spec"].update(relatedImages=[]), "is not among relatedImages"),
        (lambda csv: skip(csv, "<9.0.0"), "takes in `0.1.0`, so it would skip itself"),
        (lambda csv: skip(csv, "older"), "olm.skipRange `older` is not a range such as"),
        (lambda csv: csv["spec"].update(links=[{"name": "x"}]), "spec.links[0].url is missing"),
        (
            lambda csv: csv["spec"].update(keywords="x"),
            'spec.keywords is `"x"`, and must be an array',
        ),
        (
            lambda csv: csv["spec"]["icon"][0].update(base64data="*"),
            "spec.icon[0].base64data is not base64",
        ),
        (
            lambda csv: deployment(csv)["containers"][0].update(image="Bad Image"),
            "image `Bad Image` is not a reference",
        ),
    ],
)
def test_fault_is_reported(
    project: Path,
    write_bundle: WriteBundle,
    change: Callable[[Csv], object],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert write_bundle() == 0
    change_csv(project, change)
    assert main(["bundle", "--validate"]) == 2
    assert said in capsys.readouterr().out


def move_rights(csv: Csv, source: str, target: str) -> None:
    install(csv)[target][0]["rules"] += install(csv)[source][0]["rules"]
    del install(csv)[source]


def test_rights_in_the_whole_cluster_are_enough_for_every_mode(
    project: Path, write_bundle: WriteBundle, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write_bundle() == 0
    change_csv(project, lambda csv: move_rights(csv, "permissions", "clusterPermissions"))
    assert main(["bundle", "--validate"]) == 0, capsys.readouterr().out


def test_kind_of_no_namespace_needs_rights_in_the_whole_cluster(
    project: Path, write_bundle: WriteBundle, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write_bundle() == 0
    file = project / "bundle" / "manifests" / "cache.example.com_memcacheds.yaml"
    file.write_text(file.read_text().replace("scope: Namespaced", "scope: Cluster"))
    assert main(["bundle", "--validate"]) == 2
    said = capsys.readouterr().out
    assert "not allowed to get, list, watch `memcacheds` of `cache.example.com` in cluster" in said
    assert "grants nothing of `memcacheds`: bind a ClusterRole" in said


def test_annotation_that_differs_from_the_image_is_reported(
    project: Path, write_bundle: WriteBundle, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write_bundle() == 0
    file = project / "bundle.Dockerfile"
    file.write_text(file.read_text().replace("channels.v1=candidate", "channels.v1=stable"))
    assert main(["bundle", "--validate"]) == 2
    assert "channels.v1` differs from the label" in capsys.readouterr().out


def test_image_without_a_fixed_tag_is_a_warning(
    write_bundle: WriteBundle, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write_bundle(image="example.com/op:latest") == 0
    assert main(["bundle", "--validate"]) == 0
    assert "warning: image `example.com/op:latest` has no fixed tag" in capsys.readouterr().out


def test_scorecard_passes_a_fresh_bundle(
    write_bundle: WriteBundle, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write_bundle() == 0
    assert main(["bundle", "--scorecard"]) == 0
    assert capsys.readouterr().out.count("pass ") == 6


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        (lambda csv: examples(csv, EXAMPLE % "[]"), "basic-check-spec"),
        (lambda csv: owned(csv).update(resources=[]), "olm-crds-have-resources"),
        (lambda csv: owned(csv).update(specDescriptors=[]), "olm-spec-descriptors"),
        (lambda csv: owned(csv).update(statusDescriptors=[]), "olm-status-descriptors"),
        (lambda csv: csv["spec"].update(replaces="x.v1.0.0"), "olm-bundle-validation"),
    ],
)
def test_scorecard_names_the_test_that_failed(
    project: Path,
    write_bundle: WriteBundle,
    change: Callable[[Csv], object],
    failed: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert write_bundle() == 0
    change_csv(project, change)
    assert main(["bundle", "--scorecard"]) == 2
    assert f"FAIL {failed}\n" in capsys.readouterr().out


def test_local_cluster_without_the_scorecard_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bundle", "--local-cluster"]) == 2
    assert "`--local-cluster` is a way of `--scorecard`" in capsys.readouterr().err


def test_missing_bundle_says_how_to_make_one(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bundle", "--validate"]) == 2
    assert "`make bundle` writes it" in capsys.readouterr().err


def test_versions_sort_as_semver_says() -> None:
    ordered = "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0 1.10.0"
    versions = ordered.split()
    assert sorted(versions, key=precedence) == versions
