"""What `rolecall bundle` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.cli import main
from tests.unit.bundle.conftest import WriteBundle, csv_path


def csv_of(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(csv_path(project).read_text())
    return found


def test_fresh_bundle_has_no_fault_and_no_warning(
    write_bundle: WriteBundle, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write_bundle() == 0
    assert main(["bundle", "--validate"]) == 0
    assert "0 errors, 0 warnings" in capsys.readouterr().out


def test_second_bundle_is_the_same(
    project: Path, write_bundle: WriteBundle, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write_bundle() == 0
    before = {path: path.read_bytes() for path in (project / "bundle").rglob("*.yaml")}
    assert write_bundle() == 0
    assert "0 files changed" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in (project / "bundle").rglob("*.yaml")} == before


def test_file_of_an_earlier_bundle_goes(project: Path, write_bundle: WriteBundle) -> None:
    assert write_bundle() == 0
    stale = project / "bundle" / "manifests" / "cache.example.com_gone.yaml"
    stale.write_text("{}\n")
    assert write_bundle() == 0
    assert not stale.exists()


def test_csv_says_what_the_project_says(project: Path, write_bundle: WriteBundle) -> None:
    assert write_bundle("0.2.0", "--replaces", "0.1.0") == 0
    csv = csv_of(project)
    spec = csv["spec"]
    assert csv["metadata"]["name"] == "memcached-operator.v0.2.0"
    assert spec["replaces"] == "memcached-operator.v0.1.0"
    assert spec["relatedImages"] == [{"name": "manager", "image": "example.com/op:v1"}]
    assert {mode["type"] for mode in spec["installModes"] if mode["supported"]} == {
        "OwnNamespace",
        "SingleNamespace",
        "MultiNamespace",
        "AllNamespaces",
    }
    (owned,) = spec["customresourcedefinitions"]["owned"]
    assert (owned["kind"], owned["name"]) == ("Memcached", "memcacheds.cache.example.com")
    assert {"kind": "ConfigMap", "name": "", "version": "v1"} in owned["resources"]
    assert [row["path"] for row in owned["specDescriptors"]] == ["message"]
    (example,) = json.loads(csv["metadata"]["annotations"]["alm-examples"])
    assert example["spec"] == {"message": "hello"}


def test_labels_name_the_platforms_that_the_deployment_may_run_on(
    project: Path, write_bundle: WriteBundle
) -> None:
    assert write_bundle() == 0
    assert csv_of(project)["metadata"]["labels"] == {
        "operatorframework.io/arch.amd64": "supported",
        "operatorframework.io/arch.arm64": "supported",
        "operatorframework.io/os.linux": "supported",
    }
    rendered = project / "rendered.yaml"
    rendered.write_text(rendered.read_text().replace("[amd64, arm64]", "[amd64]"))
    assert write_bundle() == 0
    assert "operatorframework.io/arch.arm64" not in csv_of(project)["metadata"]["labels"]


def test_olm_chooses_the_namespaces(project: Path, write_bundle: WriteBundle) -> None:
    assert write_bundle() == 0
    (deployment,) = csv_of(project)["spec"]["install"]["spec"]["deployments"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    (namespace,) = [row for row in container["env"] if row["name"] == "WATCH_NAMESPACE"]
    path = namespace["valueFrom"]["fieldRef"]["fieldPath"]
    assert path == "metadata.annotations['olm.targetNamespaces']"


def test_rules_are_those_of_config_and_no_more(project: Path, write_bundle: WriteBundle) -> None:
    assert write_bundle() == 0
    install = csv_of(project)["spec"]["install"]["spec"]
    folder = project / "config" / "rbac"
    names = {
        "clusterPermissions": ("engine_role", "metrics_auth_role"),
        "permissions": ("leader_election_role", "events_role", "role"),
    }
    for field, files in names.items():
        wanted = [yaml.safe_load((folder / f"{name}.yaml").read_text())["rules"] for name in files]
        (granted,) = install[field]
        assert sorted(map(str, granted["rules"])) == sorted(
            str(it) for rules in wanted for it in rules
        )


def test_nothing_of_the_watched_kinds_is_granted_in_the_whole_cluster(
    project: Path, write_bundle: WriteBundle
) -> None:
    assert write_bundle() == 0
    (wide,) = csv_of(project)["spec"]["install"]["spec"]["clusterPermissions"]
    assert sorted(name for rule in wide["rules"] for name in rule["resources"]) == [
        "customresourcedefinitions",
        "namespaces",
        "subjectaccessreviews",
        "tokenreviews",
    ]


def test_deployment_of_its_own_namespace_leaves_the_choice_to_olm(
    project: Path, write_bundle: WriteBundle
) -> None:
    rendered = project / "rendered.yaml"
    patched = rendered.read_text().replace(
        "          env:\n",
        "          env:\n            - name: WATCH_NAMESPACE\n              valueFrom:\n"
        "                fieldRef: {fieldPath: metadata.namespace}\n",
        1,
    )
    rendered.write_text(patched)
    test_olm_chooses_the_namespaces(project, write_bundle)


@pytest.mark.parametrize(
    ("version", "flags", "said"),
    [
        ("1", (), "version `1` is not a semantic version"),
        ("v1.0.0", (), "`--version 1.0.0`"),
        ("01.0.0", (), "is not a semantic version"),
        ("1.0.0", ("--replaces", "1.0.0"), "cannot replace 1.0.0"),
        ("1.0.0-rc.2", ("--replaces", "1.0.0-rc.10"), "cannot replace 1.0.0-rc.10"),
        ("1.0.0", ("--default-channel", "beta"), "default channel `beta`"),
        ("1.0.0", ("--manifests", "nowhere"), "`nowhere` could not be read"),
        ("1.0.0", ("--manifests", "watches.yaml"), "not a Kubernetes object"),
        ("", (), "`--version` is needed"),
    ],
)
def test_bad_input_is_reported_and_nothing_is_written(
    project: Path,
    write_bundle: WriteBundle,
    version: str,
    flags: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert write_bundle(version, *flags) == 2
    assert said in capsys.readouterr().err
    assert not (project / "bundle").exists()
