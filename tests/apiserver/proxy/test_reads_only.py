"""A credential that reads only deletes nothing, however the delete is said."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.json_object import Json
from tests.apiserver.proxy.conftest import Run, RunningProxy, config_map


@pytest.mark.parametrize(
    ("query", "body", "code"),
    [("", None, 403), ("?dryRun=All", None, 200), ("?dryRun=All", {}, 403)],
)
async def test_delete_takes_nothing_away(
    running_proxy: RunningProxy, cr: Json, namespace: str, query: str, body: Any, code: int
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    running_proxy.cluster.api.create(path, config_map(namespace, a="1"))
    issue = running_proxy.proxy.issue_read_access
    async with issue("run-1", cr, running_proxy.watch) as access:
        run = Run(access.kubeconfig, running_proxy.scratch, running_proxy.scratch)
        options = {} if body is None else {"json": body}
        async with run.request("DELETE", f"{path}/made{query}", **options) as answer:
            assert answer.status == code
    assert running_proxy.get(namespace, "made")["data"] == {"a": "1"}
