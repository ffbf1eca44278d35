"""What the API server may ask, as HTTP: `/convert`, and one path for each webhook of admission."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from rolecall.admission import AdmissionAnswers, AdmissionFailedError, Webhook
from rolecall.clock import Clock
from rolecall.conversion import Conversion
from rolecall.errors import ClusterError
from rolecall.json_object import Json
from rolecall.webhooks.bodies import MEGABYTE, BodyBudget
from rolecall.webhooks.conversion_review import ReviewError, answer_conversion
from rolecall.webhooks.registrations import CONVERT_PATH

# The kind's name, whether all was converted, how many objects, and the seconds that it took.
OnConversion = Callable[[str, bool, int, float], None]
OwnUser = Callable[[], Awaitable[str]]
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

# The API server sends an object at a time; a list of a thousand would be allowed as well.
_LARGEST_CONVERSION = 64 * MEGABYTE
# An object and what it was before: etcd holds none of more than 1.5 MB.
_LARGEST_ADMISSION = 8 * MEGABYTE
# Up to here, converting takes less time than going to a thread for it.
_SMALL = 32 * 1024
_REVIEW = "admission.k8s.io/v1"
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """What this engine can be asked. Without any of it, no server opens."""

    conversions: Sequence[Conversion] = ()
    webhooks: Sequence[Webhook] = ()
    answers: AdmissionAnswers | None = None  # there where `webhooks` are

    def __bool__(self) -> bool:
        return bool(self.conversions or self.webhooks)


class WebhookRoutes:
    """Handlers of the application; `own_user` is whose writes are always let through."""

    def __init__(
        self, asked: Asked, own_user: OwnUser, clock: Clock, on_conversion: OnConversion
    ) -> None:
        self._asked = asked
        self._own_user = own_user
        self._clock = clock
        self._on_conversion = on_conversion
        self._budget = BodyBudget()
        self.is_ending = False  # connections are given back, so that nobody asks over them later

    def app(self) -> web.Application:
        app = web.Application()
        if self._asked.conversions:
            app.router.add_post(CONVERT_PATH, self._closing(self._convert))
        for webhook in self._asked.webhooks:
            app.router.add_post(webhook.path, self._closing(self._admission(webhook)))
        return app

    async def _convert(self, request: web.Request) -> web.Response:
        async with self._budget.read(request, _LARGEST_CONVERSION) as data:
            return await self._answer_conversion(data)

    async def _answer_conversion(self, data: bytes) -> web.Response:
        began = self._clock.monotonic()
        try:
            if len(data) <= _SMALL:
                answer, body = _converted(self._asked.conversions, data)
            else:  # a thousand objects take a quarter of a second, and the loop has other work
                answer, body = await asyncio.to_thread(_converted, self._asked.conversions, data)
        except (ReviewError, ValueError) as error:
            return web.Response(status=400, text=f"{error}\n")
        seconds = self._clock.monotonic() - began
        self._on_conversion(answer.kind, answer.is_success, answer.count, seconds)
        return web.Response(body=body, content_type="application/json")

    def _admission(self, webhook: Webhook) -> _Handler:
        answers = self._asked.answers
        assert answers is not None, "who has webhooks has answers"

        async def answer(request: web.Request) -> web.Response:
            async with self._budget.read(request, _LARGEST_ADMISSION) as data:
                return await answer_to(data)

        async def answer_to(data: bytes) -> web.Response:
            try:
                review = _admission_review(data)
            except ValueError as error:
                return web.Response(status=400, text=f"{error}\n")
            if await self._is_ours(review["request"]):
                return _json(_let_through(review))
            try:
                return _json(await answers.answer(webhook, review))
            except AdmissionFailedError as failure:
                return web.Response(status=500, text=f"{failure}\n")

        return answer

    async def _is_ours(self, request: Json) -> bool:
        try:
            own_user = await self._own_user()
        except ClusterError:
            return False
        user = request.get("userInfo")
        return isinstance(user, dict) and bool(own_user) and user.get("username") == own_user

    def _closing(self, handler: _Handler) -> _Handler:
        async def answer(request: web.Request) -> web.StreamResponse:
            response = await handler(request)
            if self.is_ending:
                response.force_close()
            return response

        return answer


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is counted of a conversion."""

    kind: str
    is_success: bool
    count: int


def _converted(conversions: Sequence[Conversion], data: bytes) -> tuple[_Answer, bytes]:
    """Blocking. What nobody expected is told to whoever asked, and to the log with its traceback."""
    review = _map_in(data)
    try:
        answer = answer_conversion(conversions, review)
    except ReviewError:
        raise
    except Exception as failure:
        _logger.exception("internal error: could not convert")
        answer = _failed(review, f"internal error of the operator, see its log: {failure!r}")
    request, response = review["request"], answer["response"]
    objects = request["objects"]
    kind = _kind_of(conversions, request, objects)
    is_success = response["result"]["status"] == "Success"
    body = json.dumps(answer, separators=(",", ":")).encode()
    return _Answer(kind, is_success, len(objects)), body


def _failed(review: Json, message: str) -> Json:
    result = {"status": "Failure", "message": message}
    uid = (review.get("request") or {}).get("uid")
    response: Json = {"uid": uid, "convertedObjects": [], "result": result}
    kind = {"apiVersion": review["apiVersion"], "kind": "ConversionReview"}
    return {**kind, "response": response}


def _kind_of(conversions: Sequence[Conversion], request: Json, objects: Sequence[Any]) -> str:
    """Of one that we know: a request of anybody's must not make series of metrics."""
    group = str(request["desiredAPIVersion"]).rpartition("/")[0]
    first = objects[0].get("kind") if objects and isinstance(objects[0], dict) else ""
    known = (each for each in conversions if (each.group, each.kind) == (group, first))
    return next((f"{each.kind}.{each.group}" for each in known), "unknown")


def _map_in(data: bytes) -> Json:
    try:
        found = json.loads(data)
    except RecursionError:
        raise ReviewError("the review is nested too deeply") from None
    if not isinstance(found, dict):
        raise ReviewError("this is no review")
    return found


def _admission_review(data: bytes) -> Json:
    review = _map_in(data)
    request = review.get("request")
    if review.get("apiVersion") != _REVIEW or not isinstance(request, dict):
        raise ReviewError(f"this is no AdmissionReview of {_REVIEW}")
    if not isinstance(request.get("uid"), str):
        raise ReviewError("the review lacks `request.uid`")
    return review


def _let_through(review: Mapping[str, Any]) -> Json:
    response = {"uid": review["request"]["uid"], "allowed": True}
    return {"apiVersion": _REVIEW, "kind": "AdmissionReview", "response": response}


def _json(body: Json) -> web.Response:
    return web.Response(body=json.dumps(body).encode(), content_type="application/json")
