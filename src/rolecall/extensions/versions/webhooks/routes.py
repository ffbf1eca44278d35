"""What the API server may ask, as HTTP: `/convert`, and one path for each webhook of admission."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from rolecall.clock import Clock
from rolecall.conversion import Conversion
from rolecall.errors import ClusterError
from rolecall.extensions.versions.webhooks.bodies import (
    MEGABYTE,
    BodyBudget,
    ReviewError,
    review_in,
)
from rolecall.extensions.versions.webhooks.conversion_review import answer_conversions
from rolecall.json_object import Json
from rolecall.webhooks import CONVERT_PATH, NoVerdictError, Webhook

# The kind's name, whether all was converted, how many objects, and the seconds that it took.
OnConversion = Callable[[str, bool, int, float], None]
# The `AdmissionReview` with its `response`. The review is of `admission.k8s.io/v1` and has a `uid`; the
# operator's own user is let through without being asked about.
AnswerReview = Callable[[Webhook, Json], Awaitable[Json]]
OwnUser = Callable[[], Awaitable[str]]
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

# The API server sends an object at a time; a list of a thousand would be allowed as well.
_LARGEST_CONVERSION = 64 * MEGABYTE
# An object and what it was before: etcd holds none of more than 1.5 MB.
_LARGEST_ADMISSION = 8 * MEGABYTE
# Up to here, converting takes less time than going to a thread for it.
_SMALL = 32 * 1024
_REVIEW = "admission.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class Asked:
    """What this engine can be asked. Without any of it, no server opens."""

    conversions: Sequence[Conversion] = ()
    webhooks: Sequence[Webhook] = ()
    answer: AnswerReview | None = None  # there where `webhooks` are

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
        self.is_ending = False  # connections are closed, so that no later request uses them

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
        began, conversions = self._clock.monotonic(), self._asked.conversions
        try:
            if len(data) <= _SMALL:
                counted, body = answer_conversions(conversions, data)
            else:  # a thousand objects take a quarter of a second, and the loop has other work
                counted, body = await asyncio.to_thread(answer_conversions, conversions, data)
        except ValueError as error:
            return web.Response(status=400, text=f"{error}\n")
        seconds = self._clock.monotonic() - began
        self._on_conversion(counted.kind, counted.is_success, counted.count, seconds)
        return web.Response(body=body, content_type="application/json")

    def _admission(self, webhook: Webhook) -> _Handler:
        answer_by = self._asked.answer
        assert answer_by is not None, "who has webhooks has answers"

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
                return _json(await answer_by(webhook, review))
            except NoVerdictError as failure:
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


def _admission_review(data: bytes) -> Json:
    review = review_in(data)
    request = review.get("request")
    if review.get("apiVersion") != _REVIEW or not isinstance(request, dict):
        raise ReviewError(f"the body is not an AdmissionReview of {_REVIEW}")
    if not isinstance(request.get("uid"), str):
        raise ReviewError("the review lacks `request.uid`")
    return review


def _let_through(review: Mapping[str, Any]) -> Json:
    response = {"uid": review["request"]["uid"], "allowed": True}
    return {"apiVersion": _REVIEW, "kind": "AdmissionReview", "response": response}


def _json(body: Json) -> web.Response:
    return web.Response(body=json.dumps(body).encode(), content_type="application/json")
