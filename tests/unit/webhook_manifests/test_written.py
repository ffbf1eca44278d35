"""`rolecall webhooks`: what it writes, and that `rolecall check` holds it to its sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.cli import main
from rolecall.webhooks import Webhook
from rolecall_dev.webhook_manifests import (
    DEFAULT_OVERLAY,
    FOLDER,
    KindCrd,
    OverlayNames,
    WebhookSubjects,
    manifest_files,
)

CRD = "config/crd/bases/tests.example.com_shops.yaml"
CONVERSIONS = """\
- group: tests.example.com
  kind: Shop
  steps:
    - {older: v1, newer: v2}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new one, whose kind has two versions that differ in name alone."""
    folder = tmp_path / "shop-operator"
    folder.mkdir()
    monkeypatch.chdir(folder)
    names = ["--group", "tests", "--version", "v1", "--kind", "Shop"]
    assert main(["init", "--domain", "example.com", *names]) == 0
    further = ["--group", "tests", "--version", "v2", "--kind", "Shop"]
    assert main(["create", "api", *further]) == 0
    (folder / "conversions.yaml").unlink()
    assert main(["webhooks"]) == 0
    (folder / "conversions.yaml").write_text(CONVERSIONS)
    return folder


def said(capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    main(["check"])
    return capsys.readouterr().out


def test_written_once_checked_and_taken_away_with_its_source(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    default = (project / DEFAULT_OVERLAY).read_text()
    assert f"{FOLDER} is not there" in said(capsys)
    assert main(["webhooks"]) == 0
    assert "../webhooks" in yaml.safe_load((project / DEFAULT_OVERLAY).read_text())["components"]
    assert FOLDER not in said(capsys)
    assert main(["webhooks"]) == 0
    assert "0 files changed" in capsys.readouterr().out

    roles = project / FOLDER / "roles.yaml"
    roles.write_text(roles.read_text().replace("patch", "delete"))
    assert f"{FOLDER}/roles.yaml: is not what watches.yaml" in said(capsys)
    assert main(["webhooks"]) == 0
    assert FOLDER not in said(capsys)

    (project / DEFAULT_OVERLAY).write_text(default)
    assert f"so {FOLDER} is deployed nowhere" in said(capsys)
    assert main(["webhooks"]) == 0
    (project / "conversions.yaml").unlink()
    assert f"{FOLDER}/roles.yaml: is not of these sources any more" in said(capsys)
    assert main(["webhooks"]) == 0
    assert not (project / FOLDER).exists()
    assert (project / DEFAULT_OVERLAY).read_text() == default


def test_rights_are_those_for_what_is_reported_and_no_more() -> None:
    kind = KindCrd("example.com", "Shop", "shops")
    asked = Webhook(is_mutating=False, group="example.com", version="v1", kind="Shop")
    names = OverlayNames("shop-", "shop-system")
    files = manifest_files(WebhookSubjects([kind], [(asked, kind)]), names, {"app": "shop"})
    rules = [
        (rule["resources"], rule["resourceNames"], rule["verbs"])
        for document in yaml.safe_load_all(files[f"{FOLDER}/roles.yaml"])
        for rule in document.get("rules", ())
    ]
    assert rules == [
        (["customresourcedefinitions"], ["shops.example.com"], ["get", "patch"]),
        (
            ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"],
            ["shop-webhooks"],
            ["get", "patch"],
        ),
        (["secrets"], ["shop-webhooks"], ["get", "update"]),
    ]
    (patch,) = documents(files, "manager_patch.yaml")
    (container,) = patch["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [{"name": "ROLECALL_WEBHOOK_SERVICE", "value": "shop-webhooks"}]


def test_cert_manager_injects_its_authority_into_every_webhook() -> None:
    kind = KindCrd("example.com", "Shop", "shops")
    asked = Webhook(is_mutating=True, group="example.com", version="v1", kind="Shop")
    names = OverlayNames("shop-", "shop-system")
    files = manifest_files(WebhookSubjects([kind], [(asked, kind)]), names, {})
    (patch,) = documents(files, "cert-manager/mutating_patch.yaml")
    assert patch["metadata"]["annotations"] == {
        "cert-manager.io/inject-ca-from": "shop-system/shop-webhooks"
    }
    (row,) = patch["webhooks"]
    assert row["clientConfig"]["service"]["path"] == "/mutate/example.com/v1/shop"
    assert "system:serviceaccount:shop-system:shop-controller-manager" in str(
        row["matchConditions"]
    )
    assert f"{FOLDER}/cert-manager/validating_patch.yaml" not in files


def test_nothing_to_ask_needs_no_file() -> None:
    assert manifest_files(WebhookSubjects(), OverlayNames(), {}) == {}


def documents(files: dict[str, str], name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(files[f"{FOLDER}/{name}"]))


def test_rules_of_watches_become_policies_and_rules_of_the_schema(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    watches = project / "watches.yaml"
    watches.write_text(
        watches.read_text()
        + "  validate:\n    rules:\n"
        + "      - {rule: \"self.metadata.name != 'x'\", message: not x}\n"
        + "      - {rule: \"request.userInfo.username != 'eve'\", message: not eve}\n"
    )
    assert main(["webhooks"]) == 0
    assert FOLDER not in said(capsys)
    policy, binding = yaml.safe_load_all((project / FOLDER / "policies.yaml").read_text())
    assert policy["spec"]["validations"][0]["message"] == "not eve"
    prefix = yaml.safe_load((project / DEFAULT_OVERLAY).read_text())["namePrefix"]
    assert binding["spec"]["policyName"] == prefix + policy["metadata"]["name"]
    (step,) = yaml.safe_load((project / FOLDER / "shops_rules_patch.yaml").read_text())
    assert step["path"] == "/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations"
    assert [rule["message"] for rule in step["value"]] == ["not x"]
