"""Kinds that come while the engine runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError
from tests.e2e.engine import PATIENCE_S
from tests.e2e.features.kinds import MAKER
from tests.e2e.kinds import cr, is_successful
from tests.fixtures.crds import CRD, crd_for, install
from tests.fixtures.eventually import eventually_async

pytestmark = pytest.mark.usefixtures("engine")


async def came_to(
    api: Client, gvk: Gvk, namespace: str, name: str, is_right: Callable[[Json], Any]
) -> Json:
    return await eventually_async(
        lambda: api.get(gvk, namespace, name),
        is_right,
        timeout_s=PATIENCE_S,
        ignoring=(NotFoundError, LookupError),
    )


async def test_play_can_make_objects_of_a_kind_that_came_after_the_last_run(
    api: Client, namespace: str
) -> None:
    await api.create(MAKER, cr(MAKER, namespace))
    await came_to(api, MAKER, namespace, "x", is_successful)

    young = Gvk(f"{namespace}.rolecall.dev", "v1", "Young")
    await install(api, crd_for(young))
    try:
        spec = {"made": young.kind, "madeBy": young.api_version}
        await api.merge_patch(MAKER, namespace, "x", {"spec": spec})
        await came_to(api, young, namespace, "x-made", bool)
    finally:
        await api.delete(CRD, "", f"youngs.{young.group}")
