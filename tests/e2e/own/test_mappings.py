"""Mappings beside each other, and before a Gateway."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster, default_cache
from rolecall_dev.localcluster.build import find_go
from tests.e2e.own.cases import SERVICE
from tests.e2e.own.world import MAPPING, make, wait, wait_reason

pytestmark = pytest.mark.usefixtures("engine")

ROUTE = Gvk("gateway.networking.k8s.io", "v1", "HTTPRoute")
EVENT = Gvk("", "v1", "Event")
NAMESPACE = Gvk("", "v1", "Namespace")
_PINNED = Path(__file__).with_name("gateway")


def gateway_crd() -> Path:
    """That of HTTPRoute, of the release that go.mod pins."""
    version = next(
        line.split()[-1]
        for line in (_PINNED / "go.mod").read_text().splitlines()
        if line.startswith("require ")
    )
    command = [str(find_go(default_cache())), "mod", "download", "-json"]
    said = subprocess.run(
        [*command, f"sigs.k8s.io/gateway-api@{version}"],
        cwd=_PINNED,
        env={**os.environ, "GOTOOLCHAIN": "local"},
        capture_output=True,
        text=True,
        check=True,
    )
    folder = Path(json.loads(said.stdout)["Dir"], "config", "crd", "standard")
    return folder / "gateway.networking.k8s.io_httproutes.yaml"


async def test_taken_prefix_names_no_foreign_tenant(api: Client, namespace: str) -> None:
    spec = {"match": {"prefix": f"/{namespace}/"}, "target": {"host": "shop"}}
    await api.create(MAPPING, make(MAPPING, namespace, "owner-of-it", spec))
    await wait_reason(api, MAPPING, namespace, "owner-of-it", "Announced")
    other = f"{namespace}-tenant"
    await api.create(NAMESPACE, {"metadata": {"name": other}})
    for home in (namespace, other):
        await api.create(MAPPING, make(MAPPING, home, "wants-it", spec))

    reported = await wait_reason(api, MAPPING, namespace, "wants-it", "PrefixTaken")
    assert "the older Mapping `owner-of-it`" in reported["message"]
    await wait_reason(api, MAPPING, other, "wants-it", "PrefixTaken")
    status = str((await api.get(MAPPING, other, "wants-it"))["status"])
    assert ("another namespace" in status, "owner-of-it" in status) == (True, False)
    await api.delete(NAMESPACE, "", other)


async def test_older_mapping_keeps_its_prefix_and_the_younger_takes_its_route_back(
    api: Client, namespace: str
) -> None:
    spec = {"match": {"prefix": f"/{namespace}/"}, "target": {"host": "shop", "port": 80}}
    await api.create(MAPPING, make(MAPPING, namespace, "older", spec))
    await wait_reason(api, MAPPING, namespace, "older", "Announced")
    other = f"{namespace}z"  # where both are of one second, the first of the alphabet is the older
    await api.create(NAMESPACE, {"metadata": {"name": other}})
    late = {**spec, "match": {"prefix": f"/{namespace}"}}  # the same, without its last slash
    await api.create(MAPPING, make(MAPPING, other, "younger", late))

    said = await wait_reason(api, MAPPING, other, "younger", "PrefixTaken")
    assert said["status"] == "False"
    assert not [row for row in await services(api, other) if row == "younger"]
    await wait_reason(api, MAPPING, namespace, "older", "Announced")

    by_header = {"spec": {"match": {"headers": {"x-tenant": "blue"}}}}
    await api.merge_patch(MAPPING, other, "younger", by_header)
    await wait_reason(api, MAPPING, other, "younger", "Announced")
    assert "younger" in await services(api, other)

    # Announced, and then taken: it takes back what it said.
    await api.merge_patch(MAPPING, other, "younger", {"spec": {"match": {"headers": None}}})
    await wait_reason(api, MAPPING, other, "younger", "PrefixTaken")
    assert "younger" not in await services(api, other)
    await api.delete(NAMESPACE, "", other)


async def test_younger_mapping_learns_at_once_that_an_older_one_takes_its_prefix_and_gives_it_up(
    api: Client, namespace: str
) -> None:
    specs = {
        name: {"match": {"prefix": f"/{namespace}/{name}"}, "target": {"host": "shop"}}
        for name in ("older", "younger")
    }
    for name, spec in specs.items():
        await api.create(MAPPING, make(MAPPING, namespace, name, spec))
        await wait_reason(api, MAPPING, namespace, name, "Announced")

    taken = {"match": {"prefix": specs["younger"]["match"]["prefix"]}}
    await api.merge_patch(MAPPING, namespace, "older", {"spec": taken})
    await wait_reason(api, MAPPING, namespace, "younger", "PrefixTaken")

    await api.merge_patch(MAPPING, namespace, "older", {"spec": specs["older"]})
    await wait_reason(api, MAPPING, namespace, "younger", "Announced")
    await api.merge_patch(MAPPING, namespace, "older", {"spec": taken})
    await wait_reason(api, MAPPING, namespace, "younger", "PrefixTaken")
    await api.delete(MAPPING, namespace, "older")
    await wait_reason(api, MAPPING, namespace, "younger", "Announced")


async def services(api: Client, namespace: str) -> list[str]:
    items = await api.list_all(SERVICE, namespace)
    return [each["metadata"]["name"] for each in items]


@pytest.mark.nightly
async def test_route_is_as_ready_as_the_gateways_controller_says(
    api: Client, namespace: str, cluster: Cluster
) -> None:
    spec = {
        "match": {
            "prefix": f"/{namespace}/",
            "headers": {"x-tenant": "blue"},
            "hosts": ["shop.example.com"],
        },
        "target": {"host": "shop.web", "port": 8080},
        "weights": [{"target": {"host": "next"}, "weight": 5}],
        "gateway": {"name": "public", "namespace": "gateways"},
    }
    await api.create(MAPPING, make(MAPPING, namespace, "shop", spec))
    await wait_reason(api, MAPPING, namespace, "shop", "NoGatewayApi")

    cluster.kubectl("apply", "--server-side", "-f", str(gateway_crd()))
    cluster.kubectl("wait", "--for=condition=Established", "crd", "--all")
    await api.merge_patch(
        MAPPING, namespace, "shop", {"spec": {"match": {"hosts": ["www.example.com"]}}}
    )
    said = await wait_reason(api, MAPPING, namespace, "shop", "NotAccepted")
    assert "no controller answers for Gateway gateways/public" in said["message"]
    route = await api.get(ROUTE, namespace, "shop")
    (rule,) = route["spec"]["rules"]
    shares = [
        (row["name"], row["namespace"], row["port"], row["weight"]) for row in rule["backendRefs"]
    ]
    assert shares == [("shop", "web", 8080, 95), ("next", namespace, 80, 5)]
    assert rule["matches"][0]["headers"] == [{"type": "Exact", "name": "x-tenant", "value": "blue"}]
    assert route["spec"]["hostnames"] == ["www.example.com"]

    answer(cluster, namespace, route, "False")
    said = await wait_reason(api, MAPPING, namespace, "shop", "NotAccepted")
    await wait(lambda: says(api, namespace, "NoGrant: not permitted"))
    answer(cluster, namespace, route, "True")
    await wait_reason(api, MAPPING, namespace, "shop", "Announced")
    reported = (await api.get(EVENT, namespace, "shop-route"))["reason"]
    assert reported == "RouteChanged"

    await api.merge_patch(
        MAPPING, namespace, "shop", {"spec": {"target": {"host": "www.example.com"}}}
    )
    said = await wait_reason(api, MAPPING, namespace, "shop", "SpecRefused")
    assert "www.example.com" in said["message"]
    await api.merge_patch(MAPPING, namespace, "shop", {"spec": {"gateway": None}})
    await wait_reason(api, MAPPING, namespace, "shop", "Announced")
    assert await api.list_all(ROUTE, namespace) == []


async def says(api: Client, namespace: str, words: str) -> bool:
    cr = await api.get(MAPPING, namespace, "shop")
    return words in str(cr["status"]["conditions"])


def answer(cluster: Cluster, namespace: str, route: Json, resolved: str) -> None:
    """What the controller of a Gateway writes."""
    row = {
        "observedGeneration": route["metadata"]["generation"],
        "lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    accepted = {"type": "Accepted", "status": "True", "reason": "Accepted", "message": ""}
    found = {"type": "ResolvedRefs", "status": resolved, "reason": "NoGrant"}
    parent = {
        "parentRef": route["spec"]["parentRefs"][0],
        "controllerName": "example.com/gateway",
        "conditions": [accepted | row, found | {"message": "not permitted"} | row],
    }
    patch = json.dumps({"status": {"parents": [parent]}})
    words = ("--subresource=status", "--type=merge", "--patch", patch)
    cluster.kubectl("-n", namespace, "patch", "httproute", "shop", *words)
