"""An engine that observes reports what a run would change, and changes nothing."""

from __future__ import annotations

import pytest

from rolecall.extensions.plan import MODE_ANNOTATION
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError
from tests.e2e.engine import PATIENCE_S, EngineProcess
from tests.e2e.kinds import condition, cr
from tests.e2e.test_story import DEPLOYMENT, MEMCACHED
from tests.e2e.wanted_kinds import settled
from tests.fixtures.eventually import eventually_async


async def test_observed_cr_reports_its_drift_and_runs_once_it_is_reconciled(
    api: Client, namespace: str, engine: EngineProcess
) -> None:
    body = cr(MEMCACHED, namespace, size=1)
    body["metadata"]["annotations"] = {MODE_ANNOTATION: "observe"}
    await api.create(MEMCACHED, body)

    observed = await drifted(api, namespace, "True")
    assert "Deployment" in condition(observed, "Drifted")["message"]
    assert [each["type"] for each in observed["status"]["conditions"]] == ["Drifted"]
    assert not observed["metadata"].get("finalizers")
    with pytest.raises(NotFoundError):
        await api.get(DEPLOYMENT, namespace, "x-memcached")
    assert await api.list_all(DEPLOYMENT, namespace) == []

    await api.merge_patch(
        MEMCACHED, namespace, "x", {"metadata": {"annotations": {MODE_ANNOTATION: None}}}
    )
    await settled(api, MEMCACHED, namespace)
    assert len(await api.list_all(DEPLOYMENT, namespace)) == 1
    await drifted(api, namespace, "False")


async def drifted(api: Client, namespace: str, status: str) -> Json:
    """The CR, once its condition says so."""

    def says(cr: Json) -> bool:
        return bool(condition(cr, "Drifted").get("status") == status)

    return await eventually_async(
        lambda: api.get(MEMCACHED, namespace, "x"), says, timeout_s=PATIENCE_S
    )
