"""Webhooks in a bundle: what `rolecall bundle` writes, and what `--validate` says of them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.cli import main
from rolecall.webhooks import Webhook
from rolecall_dev.bundle import FromRoles, Identity, lost_under_olm, make_bundle, split
from tests.unit.bundle.conftest import WriteBundle, change_csv, csv_path

CONVERTED = {
    "strategy": "Webhook",
    "webhook": {
        "clientConfig": {"service": {"name": "op-webhooks", "namespace": "op-system"}},
        "conversionReviewVersions": ["v1"],
    },
}


def converted(project: Path) -> None:
    """As with config/webhooks: the CRD is converted, and there are objects that OLM makes itself."""
    rendered = project / "rendered.yaml"
    documents = [it for it in yaml.safe_load_all(rendered.read_text()) if it]
    for document in documents:
        if document["kind"] == "CustomResourceDefinition":
            document["spec"]["conversion"] = CONVERTED
        if document["kind"] == "Deployment":
            (container,) = document["spec"]["template"]["spec"]["containers"]
            container["env"].append({"name": "ROLECALL_WEBHOOK_SERVICE", "value": "op-webhooks"})
    for kind in ("Service", "Secret", "ValidatingWebhookConfiguration", "Role"):
        documents.append({"kind": kind, "metadata": {"name": "op-webhooks"}})
    rendered.write_text(yaml.safe_dump_all(documents))


def test_converted_kind_is_defined_for_olm_and_for_all_namespaces(
    project: Path, write_bundle: WriteBundle, capsys: pytest.CaptureFixture[str]
) -> None:
    converted(project)
    assert write_bundle() == 0
    csv = yaml.safe_load(csv_path(project).read_text())
    (row,) = csv["spec"]["webhookdefinitions"]
    assert (row["type"], row["webhookPath"]) == ("ConversionWebhook", "/convert")
    assert row["conversionCRDs"] == ["memcacheds.cache.example.com"]
    assert (row["containerPort"], row["targetPort"]) == (443, 9443)
    supported = [it["type"] for it in csv["spec"]["installModes"] if it["supported"]]
    assert supported == ["AllNamespaces"]
    assert "op-webhooks" not in csv_path(project).read_text()
    assert not list((project / "bundle").rglob("op-webhooks_*"))
    assert main(["bundle", "--validate"]) == 0
    assert "0 errors, 0 warnings" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda spec: spec["installModes"][0].update(supported=True),
            "installModes must support AllNamespaces and no other",
        ),
        (lambda spec: spec.pop("webhookdefinitions"), "and no ConversionWebhook names it"),
        (
            lambda spec: spec["webhookdefinitions"][0].update(conversionCRDs=["a.b"]),
            "converts `a.b`, which is not a CRD of this bundle",
        ),
        (
            lambda spec: spec["webhookdefinitions"][0].update(deploymentName="other"),
            "is served by `other`, which the CSV does not install",
        ),
        (lambda spec: spec["webhookdefinitions"][0].update(type="Odd"), "is of type `Odd`"),
        (
            lambda spec: spec["webhookdefinitions"][0].update(sideEffects="Some"),
            "has side effects other than `None`",
        ),
    ],
)
def test_definition_that_olm_could_not_use_is_named(
    project: Path,
    write_bundle: WriteBundle,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[dict[str, Any]], object],
    said: str,
) -> None:
    converted(project)
    assert write_bundle() == 0
    change_csv(project, lambda csv: change(csv["spec"]))
    assert main(["bundle", "--validate"]) == 2
    assert said in capsys.readouterr().out


def test_admission_is_defined_as_olm_wants_it_and_what_it_drops_is_reported(project: Path) -> None:
    webhook = Webhook(
        is_mutating=False,
        group="cache.example.com",
        version="v1",
        kind="Memcached",
        subresources=["scale"],
        match_conditions=[{"name": "x", "expression": "true"}],
        namespace_selector={"matchLabels": {"a": "b"}},
    )
    identity = Identity("op", "0.1.0", "here", "rolecall.dev/v1")
    manifests = split((project / "rendered.yaml").read_text())
    bundle = make_bundle(manifests, identity, "example.com/op:v1", FromRoles({}, [webhook]))
    csv = yaml.safe_load(bundle.files["bundle/manifests/op.clusterserviceversion.yaml"])
    (row,) = csv["spec"]["webhookdefinitions"]
    assert row["generateName"] == "validate.memcached.cache.example.com"
    assert row["rules"][0]["resources"] == ["memcacheds", "memcacheds/scale"]
    assert not {"matchConditions", "namespaceSelector"} & set(row)
    reported = list(lost_under_olm([webhook], has_policies=True))
    assert len(reported) == 3
    assert "match conditions" in reported[0]
    assert "namespace selector" in reported[1]
    assert "Policies" in reported[2]


def test_version_that_the_last_commit_shipped_is_missed(
    project: Path, write_bundle: WriteBundle, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write_bundle() == 0
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["add", "bundle"], ["commit", "-qm", "shipped"]):
        subprocess.run([*git, *words], cwd=project, check=True)
    rendered = project / "rendered.yaml"
    documents = [it for it in yaml.safe_load_all(rendered.read_text()) if it]
    for document in documents:
        if document["kind"] == "CustomResourceDefinition":
            document["spec"]["versions"][0]["name"] = "v2"
    rendered.write_text(yaml.safe_dump_all(documents))
    assert write_bundle("0.2.0") == 0
    main(["bundle", "--validate"])
    said = "CRD `memcacheds.cache.example.com` has no `v1` any more, at which objects were stored"
    assert said in capsys.readouterr().out
