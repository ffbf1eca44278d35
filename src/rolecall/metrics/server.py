"""The three small HTTP servers: metrics, probes, and where roles set metrics.

Each is bound before anything else starts, and says which port it got. Rendering metrics happens in a
thread: with ten thousand CRs it takes longer than the loop may be held.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence

from aiohttp import web

from rolecall.metrics.engine_metrics import EngineMetrics
from rolecall.metrics.probes import Probe
from rolecall.metrics.review import Reviewer
from rolecall.metrics.role_metrics import RoleMetricError, RoleMetrics

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_TEXT = "text/plain; version=0.0.4; charset=utf-8"
# A metric request is a few hundred bytes; more than this is a mistake.
_LARGEST_REQUEST = 64 * 1024


def metrics_app(
    metrics: EngineMetrics, roles: RoleMetrics, reviewer: Reviewer | None
) -> web.Application:
    """`/metrics`, for clients that the reviewer admits; for all where there is no reviewer."""

    def render() -> bytes:
        return metrics.exposition() + roles.exposition()

    async def answer(request: web.Request) -> web.Response:
        if reviewer is not None:
            header = request.headers.get("Authorization", "")
            if (code := await reviewer.code_for(header, request.path)) != 200:
                return web.Response(status=code)
        metrics.refresh()
        response = web.Response(
            body=await asyncio.to_thread(render), headers={"Content-Type": _TEXT}
        )
        response.enable_compression()
        return response

    app = web.Application()
    app.router.add_get("/metrics", answer)
    return app


def probes_app(probes: Sequence[Probe]) -> web.Application:
    """`/healthz`, `/readyz` and each of their checks."""
    app = web.Application()
    for probe in probes:
        app.router.add_get(f"/{probe.name}", _all_of(probe))
        app.router.add_get(f"/{probe.name}/", _all_of(probe))
        app.router.add_get(f"/{probe.name}/{{check}}", _one_of(probe))
    return app


def role_metrics_app(roles: RoleMetrics) -> web.Application:
    """`POST /metrics`, one metric each."""

    async def answer(request: web.Request) -> web.Response:
        if request.method != "POST":
            return web.Response(status=405)
        try:
            roles.apply(json.loads(await request.read()))
        except (RoleMetricError, UnicodeDecodeError, json.JSONDecodeError) as error:
            return web.Response(status=400, text=f"{error}\n")
        return web.Response()

    app = web.Application(client_max_size=_LARGEST_REQUEST)
    app.router.add_route("*", "/metrics", answer)
    return app


def _all_of(probe: Probe) -> Handler:
    async def answer(request: web.Request) -> web.Response:
        exclude = request.query.getall("exclude", [])
        code, text = probe.ask_all(exclude=exclude, verbose="verbose" in request.query)
        return web.Response(status=code, text=text)

    return answer


def _one_of(probe: Probe) -> Handler:
    async def answer(request: web.Request) -> web.Response:
        code, text = probe.ask_one(request.match_info["check"])
        return web.Response(status=code, text=text)

    return answer
