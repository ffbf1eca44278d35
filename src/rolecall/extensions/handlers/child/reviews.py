"""Admission reviews of the API server, from the engine's webhook server: `on.validate`, `on.mutate`.

kopf uses this in place of its own webhook server. It calls one handler at a time, because kopf calls
all handlers of a kind when a review does not name one; each `mutate` handler sees the changes of the
one before it.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jsonpatch
import kopf

from rolecall.extensions.handlers.child.link import Link
from rolecall.handler_files import KnownKind
from rolecall.json_object import Json

# kopf requires an address, but it is never called: the API server uses the engine's address.
_NOWHERE: kopf.WebhookClientConfig = {"url": "https://localhost/"}


@dataclass(frozen=True, slots=True)
class _Reviewer:
    """One handler, and which questions are for it."""

    verb: str  # `validate` or `mutate`
    id: str
    kinds: frozenset[str]
    operations: frozenset[str]  # empty: all
    subresource: str

    def is_asked(self, verb: str, request: Json) -> bool:
        is_operation = not self.operations or request.get("operation") in self.operations
        is_of_kind = not self.kinds or request["kind"]["kind"] in self.kinds
        place = request.get("subResource") or ""
        return (
            verb == self.verb and is_of_kind and is_operation and self.subresource in (place, "*")
        )


class Reviews:
    def __init__(self, link: Link) -> None:
        self._link = link
        self._reviewers: list[_Reviewer] = []
        self._answer: asyncio.Future[kopf.WebhookFn] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, verb: str, id_: str, named: Json, meant: Sequence[KnownKind]) -> None:
        """A handler is registered; `named` is what its decorator says."""
        operation, field = named.get("operation"), named.get("field")
        operations = named.get("operations") or ([operation] if operation else [])
        suffix = ".".join([field] if isinstance(field, str) else field or ())
        self._reviewers.append(
            _Reviewer(
                verb,
                f"{id_}/{suffix}" if suffix else id_,
                frozenset(kind.gvk.kind for kind in meant),
                frozenset(operations),
                named.get("subresource") or "",
            )
        )

    async def serve(self, answer: kopf.WebhookFn) -> AsyncIterator[kopf.WebhookClientConfig]:
        """What kopf takes for a server."""
        self._answer.set_result(answer)
        yield _NOWHERE
        await asyncio.Event().wait()

    def take(self, message: Json) -> None:
        """A question of the engine's."""
        task = asyncio.create_task(self._review(message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _review(self, message: Json) -> None:
        reviewed = {"message_type": "reviewed", "number": message["number"]}
        try:
            answered = await self._answered(message["verb"], message["review"])
            self._link.send({**reviewed, "review": answered})
        except Exception as error:
            self._link.send({**reviewed, "why": f"{type(error).__name__}: {error}"})

    async def _answered(self, verb: str, review: Json) -> Json:
        """The answers of all handlers in one; the first denial is the answer."""
        answer = await self._answer
        request = review["request"]
        warnings: list[str] = []
        steps: list[Json] = []
        for reviewer in self._reviewers:
            if not reviewer.is_asked(verb, request):
                continue
            given: Any = await answer(review, webhook=reviewer.id)  # type: ignore[arg-type]
            response = given["response"]
            warnings += response.get("warnings", [])
            if not response["allowed"]:
                return _reviewed(review, {**response, "warnings": warnings})
            if "patch" in response:
                mine = json.loads(base64.b64decode(response["patch"]))
                request["object"] = jsonpatch.apply_patch(request["object"], mine)
                steps += mine
        response = {"uid": request["uid"], "allowed": True, "warnings": warnings}
        if steps:
            response["patchType"] = "JSONPatch"
            response["patch"] = base64.b64encode(json.dumps(steps).encode()).decode()
        return _reviewed(review, response)


def _reviewed(review: Json, response: Mapping[str, Any]) -> Json:
    about = {key: review[key] for key in ("apiVersion", "kind")}
    return {**about, "response": {key: value for key, value in response.items() if value != []}}
