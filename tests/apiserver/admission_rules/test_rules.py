"""Rules of watches.yaml, as the API server checks them by itself: no engine runs here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, Credentials, UnprocessableError
from rolecall.watches import WatchDefaults, load_watches
from rolecall.webhooks import AdmissionKeys
from rolecall_dev.admission_rules import policies_of, with_rules
from rolecall_dev.localcluster import Cluster
from tests.e2e.crates import CRATE, Person, crate, crd
from tests.fixtures.crds import create_kind
from tests.fixtures.eventually import eventually_async

WATCHES = """
- group: admission.rolecall.dev
  version: v1
  kind: Crate
  role: crate
  validate:
    rules:
      - rule: "self.spec.size % 2 == 1"
        message: size must be odd
      - rule: "!has(oldSelf.spec.colour) || self.spec.colour == oldSelf.spec.colour"
        message: the colour stays
      - rule: "object.metadata.name != 'lid' || request.userInfo.username == 'mallory'"
        message: only mallory makes lids
"""
API = "admissionregistration.k8s.io"


@pytest.fixture
async def api(cluster: Cluster) -> AsyncIterator[Client]:
    async with Client(Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})) as client:
        yield client


def written(folder: Path, text: str = WATCHES) -> list[Json]:
    """The CRD with its rules, and the policy with its binding."""
    (folder / "watches.yaml").write_text(text)
    (folder / "roles/crate").mkdir(parents=True, exist_ok=True)
    watches, _ = load_watches(Path("watches.yaml"), {}, WatchDefaults(), folder, [AdmissionKeys])
    return [with_rules(crd(CRATE), watches), *policies_of(watches, lambda _: "crates")]


async def test_rules_deny_and_let_through_without_an_engine(
    api: Client, namespace: str, tmp_path: Path
) -> None:
    made = definition, *policies = written(tmp_path)
    await create_kind(api, definition)
    for document in policies:
        await api.create(Gvk.parse(document["apiVersion"], document["kind"]), document)
    jane = Person(api, namespace)
    try:

        async def is_checked() -> bool:
            lid = await jane.create(CRATE, "lid", "?dryRun=All")
            return lid.code == 422 and "only mallory makes lids" in lid.message

        await eventually_async(is_checked)
        even = await jane.create(CRATE, "even", size=2)
        assert (even.code, "size must be odd" in even.message) == (422, True)
        assert (await jane.create(CRATE, "one", colour="red")).code == 201
        assert "the colour stays" in (await jane.change(CRATE, "one", colour="blue")).message
        assert (await jane.change(CRATE, "one", size=3)).code == 200
        mallory = Person(api, namespace, "mallory")
        lid = await mallory.ask("POST", mallory.path(CRATE), crate(CRATE, namespace, "lid"))
        assert lid.code == 201, lid.message
    finally:
        for document in reversed(made):
            gvk = Gvk.parse(document["apiVersion"], document["kind"])
            await api.delete(gvk, "", document["metadata"]["name"])


@pytest.mark.parametrize(
    ("rule", "reported"),
    [
        ("self.spec.sizes == 1", "undefined field 'sizes'"),
        ("self.spec.size == 'x'", "found no matching overload for '_==_'"),
        ("object.spec.size ==", "mismatched input '<EOF>'"),
    ],
)
async def test_rule_that_only_the_api_server_knows_to_be_wrong_is_refused_with_its_place(
    api: Client, tmp_path: Path, rule: str, reported: str
) -> None:
    """At the time of `kubectl apply`, not of the first object that is written."""
    text = WATCHES.replace("self.spec.size % 2 == 1", rule)
    text = text[: text.index('      - rule: "!has')]
    definition, *policies = written(tmp_path, text)
    document = policies[0] if policies else definition
    document["metadata"]["name"] = document["metadata"]["name"].replace("crates", "boxes")
    names = document["spec"].get("names")
    if names:
        names |= {"kind": "Box", "plural": "boxes", "singular": "box"}
    with pytest.raises(UnprocessableError) as failure:
        await api.create(Gvk.parse(document["apiVersion"], document["kind"]), document)
    assert reported in str(failure.value), str(failure.value)
