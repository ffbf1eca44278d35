"""The routes of the page, behind the guard; an `OperatorPage` is made and served by the extension."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable
from importlib.resources import files

from aiohttp import web

from rolecall.extensions.console.page.access import TooManyError
from rolecall.extensions.console.page.actions import Actions
from rolecall.extensions.console.page.answers import HtmlAnswer, form_of
from rolecall.extensions.console.page.cr_handlers import CrPages
from rolecall.extensions.console.page.feed import ChangeFeed
from rolecall.extensions.console.page.fleet_handlers import FleetPages
from rolecall.extensions.console.page.guard import (
    Asker,
    Guard,
    PageHandler,
    RefusedError,
    login_of,
    redirect,
)
from rolecall.extensions.console.page.layouts import Layouts
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.object_handlers import ObjectPages
from rolecall.extensions.console.page.overview_handlers import OverviewPages
from rolecall.extensions.console.page.plan_handlers import PlanPages
from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.run_handlers import RunPages
from rolecall.extensions.console.page.streams import PageStreams
from rolecall.extensions.console.page.table import Table
from rolecall.extensions.console.page.trends import ExpectedTasks, Trends, TrendsUpkeep
from rolecall.extensions.console.page.views import PageLayout, error, login

_LARGEST_BODY = 64 * 1024
_CR = "/cr/{group}/{version}/{kind}/{namespace}/{name}"
_RUN = _CR + "/runs/{run}"
_OBJECT = _CR + "/objects/{of_group}/{of_version}/{of_kind}/{of_namespace}/{of_name}"
_TYPES = {"css": "text/css", "js": "text/javascript"}
_logger = logging.getLogger(__name__)

_Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class OperatorPage:
    """One engine's page. `local_token`: who has it, sees what the engine sees; empty: users log in."""

    def __init__(self, ports: PagePorts, *, local_token: str = "", is_tls: bool = False) -> None:
        self._files = _static_files()
        digest = hashlib.sha256(b"".join(self._files.values())).hexdigest()[:16]
        self._static = f"/static/{digest}"
        self._guard = Guard(ports, local_token=local_token, is_tls=is_tls)
        self._feed = ChangeFeed()
        self._table = Table(ports, self._feed)
        self.trends = Trends(ports.engine.clock)
        self.run_trends = TrendsUpkeep(ports, self.trends).run
        lookup = Lookup(ports, self._table, self._feed)
        self._turns = lookup.turns
        self._layouts = layouts = Layouts(ports.engine, self._static)
        self._overview = OverviewPages(
            ports.engine, lookup, layouts, self.trends, ExpectedTasks(ports.root)
        )
        self._fleet = FleetPages(ports.engine, lookup, layouts)
        self._crs = CrPages(ports.engine, lookup, layouts)
        self._actions = Actions(ports, lookup, self._guard, layouts)
        self._objects = ObjectPages(lookup, layouts)
        self._plans = PlanPages(ports, lookup, layouts, self._guard, self._actions)
        self.cancel_plans, self.forget = self._plans.plans.cancel, self._plans.plans.forget
        self._runs = RunPages(ports, lookup, layouts)
        self._streams = PageStreams(lookup, self._guard, self._table, self._feed)

    async def run(self) -> None:
        """Follow changes while the page is in use, until cancelled."""
        try:
            await self._table.run()
        finally:
            await self._plans.plans.close()
            await self._guard.close()

    def app(self) -> web.Application:
        app = web.Application(client_max_size=_LARGEST_BODY, middlewares=[self._around])
        router, streams = app.router, self._streams
        runs = self._runs
        for path, handler in {
            "/": self._overview.overview,
            "/crs": self._fleet.crs,
            "/kinds": self._overview.kinds,
            "/events": streams.crs,
            _CR: self._crs.cr,
            _CR + "/{action:reconcile|stop|pause|resume}": self._actions.ask,
            _CR + "/compare": runs.choose,
            _CR + "/compare/{first}/{second}": runs.compare,
            _CR + "/plan": self._plans.plan,
            _OBJECT: self._objects.object,
            _RUN + "/task-ids/{task}": self._objects.task,
            _RUN: runs.run,
            _RUN + "/facts": runs.run_facts,
            _RUN + "/events": streams.run,
            _RUN + "/stdout": runs.stdout,
            _RUN + "/tasks/{counter}": runs.task,
        }.items():
            router.add_get(path, self._for_readers(handler))
        actions = self._actions
        for path, handler in {
            _CR + "/reconcile": actions.reconcile,
            _CR + "/stop": actions.stop,
            _CR + "/pause": actions.pause,
            _CR + "/resume": actions.resume,
            _CR + "/plan": self._plans.ask,
            "/logout": self._log_out,
        }.items():
            router.add_post(path, self._for_readers(handler))
        router.add_get("/login", self._login)
        router.add_post("/login", self._log_in)
        router.add_get("/static/{digest}/{file}", self._static_file)
        return app

    def _for_readers(self, handler: PageHandler) -> _Answer:
        async def answer(request: web.Request) -> web.StreamResponse:
            if "token" in request.query and (entered := await self._guard.log_in_here(request)):
                return entered
            asker = await self._guard.asker(request)
            if asker is None:
                if request.headers.get("X-Fragment") or request.path.endswith("/events"):
                    return web.Response(status=401, text="log in again\n")
                return redirect(login_of(request))
            await self._turns.take()
            try:
                return await handler(request, asker)
            except RefusedError as refusal:
                return self._refused(refusal, self._layouts.of(asker))

        return answer

    @web.middleware
    async def _around(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        layout = PageLayout(static=self._static)
        try:
            response = await handler(request)
        except RefusedError as refusal:
            response = self._refused(refusal, layout)
        except TooManyError as refusal:
            response = self._refused(RefusedError(429, "Too many requests", str(refusal)), layout)
            response.headers["Retry-After"] = str(max(1, round(refusal.wait_s)))
        except web.HTTPException as answer:
            response = answer
            if answer.status >= 400:
                lost = RefusedError(answer.status, answer.reason, "Start at the overview.")
                response = self._refused(lost, layout)
        except ConnectionError:
            raise
        except Exception:  # a bug: the log gets the traceback, the reader a page without it
            _logger.exception("internal error: the page could not answer %s", request.path)
            bug = RefusedError(500, "Internal error", "See the operator's log.")
            response = self._refused(bug, layout)
        if not response.prepared:
            self._guard.headers(response)
        return response

    async def _login(self, request: web.Request) -> web.Response:
        back = request.query.get("back", "/")
        text = login(PageLayout(static=self._static), is_local=self._guard.is_local, back=back)
        return HtmlAnswer(text)

    async def _log_in(self, request: web.Request) -> web.StreamResponse:
        self._guard.check_site(request)
        form = await form_of(request)
        token, back = form.get("token", ""), form.get("back", "")
        try:
            return await self._guard.log_in(request, token.strip(), back)
        except RefusedError as refusal:
            text = login(
                PageLayout(static=self._static),
                refusal.what,
                is_local=self._guard.is_local,
                back=back,
            )
            return HtmlAnswer(text, refusal.code)

    async def _log_out(self, request: web.Request, asker: Asker) -> web.StreamResponse:
        await self._guard.checked(request, asker)
        return await self._guard.log_out(request)

    async def _static_file(self, request: web.Request) -> web.Response:
        name = request.match_info["file"]
        if name not in self._files or not request.path.startswith(f"{self._static}/"):
            raise RefusedError(404, "There is no such file", "Load the page again.")
        response = web.Response(
            body=self._files[name], content_type=_TYPES[name.rpartition(".")[2]]
        )
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response

    def _refused(self, refusal: RefusedError, layout: PageLayout) -> web.Response:
        text = error(refusal.code, refusal.what, refusal.way_out, layout)
        return HtmlAnswer(text, refusal.code)


def _static_files() -> dict[str, bytes]:
    folder = files("rolecall.extensions.console.page") / "static"
    found = {each.name: each.read_bytes() for each in folder.iterdir()}
    return dict(sorted(found.items()))
