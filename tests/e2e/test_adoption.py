"""Objects that had no owner, and those whose owner was taken away, as real plays meet them.

tests/apiserver/engine has the rest: test_adoption.py and test_lost_owners.py.
"""

from __future__ import annotations

import pytest

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S
from tests.e2e.kinds import CONFIG_MAP, cr, is_successful, kind
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually_async

MAKER = kind("Maker")


@pytest.mark.nightly
async def test_adopted_object_whose_owner_is_taken_away_gets_it_back(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    await install(api, crd_for(MAKER))
    body = {"metadata": {"name": "x-made", "namespace": namespace}, "data": {"word": "old"}}
    await api.create(CONFIG_MAP, {"apiVersion": "v1", "kind": "ConfigMap", **body})
    there = await api.create(MAKER, cr(MAKER, namespace, word="new"))
    start_engine(BEHAVIOURS, "--adopt").wait_ready()
    await eventually_async(
        lambda: api.get(MAKER, namespace, "x"), is_successful, timeout_s=PATIENCE_S
    )

    async def owners() -> list[str]:
        made = await api.get(CONFIG_MAP, namespace, "x-made")
        return [row["uid"] for row in made["metadata"].get("ownerReferences", [])]

    assert await owners() == [there["metadata"]["uid"]]
    stripped = {"metadata": {"ownerReferences": None}}
    await api.merge_patch(CONFIG_MAP, namespace, "x-made", stripped)
    await eventually_async(
        owners, lambda found: found == [there["metadata"]["uid"]], timeout_s=PATIENCE_S
    )
