"""An engine that converts, with the least rights for it, and with less."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.fleets import GROUP, NAME, VERSIONS, crd, delete_kind, flags, reported
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.crds import CRD, install
from tests.fixtures.eventually import eventually

Rules = list[dict[str, Any]]
READS: Rules = [{"apiGroups": [GROUP], "resources": ["*"], "verbs": ["get", "list", "watch"]}]
SECRET: Rules = [
    {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
    {
        "apiGroups": [""],
        "resources": ["secrets"],
        "resourceNames": ["rolecall-webhooks"],
        "verbs": ["get", "update"],
    },
]


def crds(*verbs: str) -> Rules:
    rule = {"apiGroups": [CRD.group], "resources": ["customresourcedefinitions"]}
    return [{**rule, "resourceNames": [NAME], "verbs": list(verbs)}]


@pytest.fixture
async def kind(api: Client) -> AsyncIterator[None]:
    await install(api, crd())
    yield
    await api.merge_patch(
        CRD, "", NAME, {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
    )
    await delete_kind(api)


@pytest.mark.nightly
@pytest.mark.usefixtures("kind")
async def test_engine_reports_the_registration_that_it_may_not_write_and_restores_it_once_it_may(
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    rules = READS + SECRET
    kubeconfig = service_account_kubeconfig(rules, crds("get"), name="reads")
    engine = start_engine(VERSIONS, *flags(namespace), kubeconfig=kubeconfig).wait_ready()

    def note() -> str:
        text = engine.ask("probes", "/readyz?verbose")[1]
        return next(line for line in text.splitlines() if "webhooks" in line)

    lacking = f"[+]webhooks ok: CRD `{NAME}`: could not patch"
    eventually(note, lambda said: said.startswith(lacking))
    eventually(lambda: engine.metric("rolecall_api_call_seconds_count", verb="patch") >= 3)
    (said,) = [line for line in engine.log.splitlines() if " error " in line]
    assert "could not register webhooks for conversion and admission" in said
    assert "config/webhooks" in said
    assert (await api.get(CRD, "", NAME))["spec"]["conversion"] == {"strategy": "None"}
    assert engine.stop() == 0

    least = READS + SECRET[1:]  # the Secret is there now, as manifests make it
    kubeconfig = service_account_kubeconfig(least, crds("get", "patch"), name="patches")
    engine = start_engine(VERSIONS, *flags(namespace), kubeconfig=kubeconfig).wait_ready()
    first = await reported(api, namespace)
    assert note() == "[+]webhooks ok"
    foreign: Json = {"strategy": "None", "webhook": None}
    await api.merge_patch(CRD, "", NAME, {"spec": {"conversion": foreign}})
    assert await reported(api, namespace) == first
    assert " error " not in engine.log


@pytest.mark.nightly
async def test_engine_without_a_right_to_its_secret_is_not_ready_and_says_which(
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    kubeconfig = service_account_kubeconfig(READS, crds("get", "patch"))
    engine = start_engine(VERSIONS, *flags(namespace), kubeconfig=kubeconfig)
    code, text = engine.ask("probes", "/readyz/webhooks")
    assert code == 500
    assert "could not get secrets `" in text
    assert "could not take the certificate for webhooks" in engine.log
    assert engine.ask("probes", "/healthz")[0] == 200
