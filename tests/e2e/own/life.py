"""One CR through its whole life, and the seconds that each step took.

Measured from the request to the state of the world that a user waits for: the CR ready for its current
generation, the dependent there, whole, or gone.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError, UnprocessableError
from tests.e2e.engine import PATIENCE_S
from tests.e2e.own.cases import Case
from tests.fixtures.eventually import eventually_async

STEPS = ("create", "update", "child deleted", "child edited", "bad spec", "delete")
NOT_YET = (AssertionError, LookupError, NotFoundError)


class Life:
    """`live` does everything that can be done to it."""

    def __init__(self, api: Client, case: Case, namespace: str) -> None:
        self.api, self.case, self.namespace = api, case, namespace
        self.seconds: dict[str, float] = {}

    async def live(self) -> dict[str, float]:
        """From create to delete; seconds by step."""
        api, case = self.api, self.case
        cr = case.cr
        cr["metadata"]["namespace"] = self.namespace
        await self._step("create", api.create(case.gvk, cr), self._is_settled)
        await self._step("update", self._change({"spec": case.edit}), self._is_edited)
        await self._step("child edited", self._damage(), self._is_mended)
        lost = (await self._dependent())["metadata"]["uid"]
        loss = api.delete(case.dependent, self.namespace, case.dependent_name)
        await self._step("child deleted", loss, lambda: self._is_replaced(lost))
        await self._step("bad spec", self._refused(), self._is_settled)
        end = api.delete(case.gvk, self.namespace, case.name)
        await self._step("delete", end, self._is_gone)
        return self.seconds

    async def _step(
        self, name: str, act: Awaitable[object], is_done: Callable[[], Awaitable[object]]
    ) -> None:
        began = time.monotonic()
        await act
        await eventually_async(is_done, timeout_s=PATIENCE_S, ignoring=NOT_YET)
        self.seconds[name] = time.monotonic() - began

    async def _change(self, patch: Json) -> Json:
        return await self.api.merge_patch(self.case.gvk, self.namespace, self.case.name, patch)

    async def _damage(self) -> Json:
        case = self.case
        patch = case.damage(await self._dependent())
        return await self.api.merge_patch(
            case.dependent, self.namespace, case.dependent_name, patch
        )

    async def _refused(self) -> None:
        try:
            await self._change({"spec": self.case.wrong})
        except UnprocessableError as error:
            assert self.case.refusal in str(error)
            return
        raise AssertionError(f"{self.case.wrong} was accepted")

    async def _cr(self) -> Json:
        return await self.api.get(self.case.gvk, self.namespace, self.case.name)

    async def _dependent(self) -> Json:
        return await self.api.get(self.case.dependent, self.namespace, self.case.dependent_name)

    async def _is_settled(self) -> bool:
        cr = await self._cr()
        ready = next(one for one in cr["status"]["conditions"] if one["type"] == "Ready")
        is_done = ready["status"] == "True" or ready["reason"] == self.case.reason
        return bool(is_done and cr["status"]["observedGeneration"] == cr["metadata"]["generation"])

    async def _is_edited(self) -> bool:
        return await self._is_settled() and self.case.is_edited(
            await self._dependent(), await self._cr()
        )

    async def _is_mended(self) -> bool:
        return self.case.is_whole(await self._dependent()) and await self._is_settled()

    async def _is_replaced(self, lost: str) -> bool:
        found = (await self._dependent())["metadata"]
        is_new = found["uid"] != lost and "deletionTimestamp" not in found
        return is_new and await self._is_settled()

    async def _is_gone(self) -> bool:
        for read in (self._cr, self._dependent):
            try:
                await read()
            except NotFoundError:
                continue
            return False
        return True
