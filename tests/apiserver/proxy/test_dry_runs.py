"""A dry run is what the API server takes for one: in the record of a run, and at the fence."""

from __future__ import annotations

import contextlib
import json
from itertools import product

import pytest

from rolecall.election import FencedClient
from rolecall.errors import NotLeadingError
from rolecall.kube import Credentials
from tests.apiserver.proxy.conftest import Run, RunningProxy, config_map

QUERIES = ("", "dryRun=All", "propagationPolicy=Background&dry%52un=All", "dryRun=")
BODIES = (
    "",
    "{}",
    '{"kind": "DeleteOptions", "apiVersion": "v1"}',
    '{"dryRun": ["All"]}',
    '{"dryRun": []}',
    '{"dryRun": null}',
    '{"dryRun": ["All"], "dryRun": []}',
    '{"DryRun": ["All"]}',
    '{"dryRun": ["All"],',
)
YAML = "dryRun: [All]"


def bytes_in_pieces(body: str) -> object:
    async def pieces() -> object:
        yield body.encode()

    return pieces() if body else None


@pytest.mark.parametrize(
    "is_chunked", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["whole", "in pieces"]
)
async def test_record_calls_a_delete_a_dry_run_only_where_the_object_stays(
    running_proxy: RunningProxy, run: Run, namespace: str, is_chunked: bool
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    said = {}
    for number, (query, body) in enumerate(product(QUERIES, BODIES)):
        name = f"m{number}"
        running_proxy.cluster.api.create(path, {"metadata": {"name": name}})
        data = bytes_in_pieces(body) if is_chunked else body.encode() or None
        headers = {"Content-Type": "application/json"} if body else {}
        target = f"{path}/{name}" + (f"?{query}" if query else "")
        async with run.request("DELETE", target, data=data, headers=headers) as answer:
            was_good = answer.status < 300
        note = run.record.requests[-1]
        if was_good:
            said[query, body] = note.is_dry_run, is_there(running_proxy, namespace, name)
        else:
            assert is_there(running_proxy, namespace, name)
    assert len(said) >= 20
    assert {case: pair for case, pair in said.items() if pair[0] != pair[1]} == {}


async def test_fence_lets_no_delete_pass_that_the_api_server_would_make(
    running_proxy: RunningProxy, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    running_proxy.cluster.api.create(path, config_map(namespace, a="1"))
    credentials = Credentials.load({"KUBECONFIG": str(running_proxy.cluster.kubeconfig)})
    passed = set()
    async with FencedClient(credentials, lambda: False) as client:
        for query, body in product(QUERIES, (*BODIES, YAML)):
            headers = {"Content-Type": "application/yaml" if body == YAML else "application/json"}
            target = f"{path}/made?{query}"
            with contextlib.suppress(NotLeadingError):
                async with client.request_raw(
                    "DELETE", target, headers=headers if body else {}, body=body.encode() or None
                ):
                    passed.add((query, body))
            assert is_there(running_proxy, namespace, "made"), (query, body)
    assert ("dryRun=All", "") in passed
    assert ("", json.dumps({"dryRun": ["All"]})) in passed


def is_there(running_proxy: RunningProxy, namespace: str, name: str) -> bool:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    items = running_proxy.cluster.api.get(path)["items"]
    return name in {item["metadata"]["name"] for item in items}
