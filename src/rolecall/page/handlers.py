"""What a page is asked for: who may see it, what there is, and the view that shows it."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import deque
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from rolecall.control import EnginePorts
from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.history import KeptRun, kept_cr, read_spec
from rolecall.json_object import Json
from rolecall.kube import NotFoundError
from rolecall.page import owned, views
from rolecall.page.differences import differences
from rolecall.page.feed import Feed
from rolecall.page.guard import Asker, RefusedError
from rolecall.page.ports import PagePorts
from rolecall.page.run_tasks import RunsRead, RunTasks, beginning_of, ends_of
from rolecall.page.table import Query, Row, Table, counted, found
from rolecall.page.views import CrPage, Layout, Replica, RunPage, Window, places
from rolecall.record import read_record
from rolecall.workqueue import Key

_MOST_ROWS = 500
_MOST_RUNS = 50
_MINUTE_S = 60.0
_SLICE = 2000
_MOST_OUTPUT = 1_000_000
_logger = logging.getLogger(__name__)


class Pages:
    """The handlers of all pages; each gets the request and who asks."""

    def __init__(self, ports: PagePorts, table: Table, feed: Feed, static: str) -> None:
        self._ports, self._table, self._feed = ports, table, feed
        self._engine: EnginePorts = ports.engine
        self._static = static
        self._read = RunsRead()
        self._ended: deque[float] = deque(maxlen=10_000)

    def run_ended(self) -> None:
        """Somewhere a run ended: what `runs in the last minute` counts."""
        self._ended.append(self._engine.clock.monotonic())

    def layout(self, asker: Asker | None, position: str = "") -> Layout:
        notice = ""
        if asker is not None and not self._engine.leads():
            leader = self._engine.leader() or "another replica"
            notice = f"This replica does not work now: {leader} does. What is shown may be old."
        if asker is None:
            return Layout(static=self._static)
        return Layout(
            reader_name=asker.reader.name,
            is_local=asker.reader.is_local,
            form_token=asker.session.form_token,
            position=position,
            notice=notice,
            static=self._static,
        )

    async def overview(self, request: web.Request, asker: Asker) -> web.Response:
        rows, position = await self._seen(asker)
        counts = counted(rows, [gvk for gvk in self._engine.facts.kinds])
        replica = self._replica()
        if _is_fragment(request):
            return _html(views.overview_parts(counts, replica))
        return _html(views.overview(counts, replica, self.layout(asker, position)))

    async def crs(self, request: web.Request, asker: Asker) -> web.Response:
        query = _query(request)
        rows, position = await self._seen(asker)
        problem, chosen = "", list[Row]()
        try:
            chosen = found(rows, query, await self._labelled(query, asker))
        except ClusterError as failure:
            problem = f"The cluster does not find this label: {failure.message}"
        start, count = (
            _number(request.query, "from"),
            _number(request.query, "count") or views.WINDOW,
        )
        some = chosen[start : start + min(count, _MOST_ROWS)]
        window = Window(query, some, start, len(chosen), problem)
        if _is_fragment(request):
            words = "1 object" if window.total == 1 else f"{window.total:,} objects"
            return _rows(views.cr_rows(window), window.total, words)
        kinds = sorted({gvk.kind for gvk in self._engine.facts.kinds})
        return _html(views.crs(window, kinds, self.layout(asker, position)))

    async def cr(self, request: web.Request, asker: Asker) -> web.Response:
        key = await self._key(request, asker)
        row = (await self._table.rows()).get(key)
        position = self._feed.position
        shown = await self._cr_page(key, row, asker)
        layout = self.layout(asker, position)
        page = views.cr_parts if _is_fragment(request) else views.cr
        return _html(page(shown, layout))

    async def run(self, request: web.Request, asker: Asker) -> web.Response:
        key, run = await self._run(request, asker)
        tasks = await self._tasks(run)
        by_time = request.query.get("order") == "time"
        start, count = _number(request.query, "from"), _number(request.query, "count")
        shown = RunPage(key, run, tasks.tasks, tasks.counter, tasks.is_cut, by_time, start, _short)
        if _is_fragment(request):
            ordered = views.ordered(shown.tasks, by_time=by_time)
            some = ordered[start : start + min(count or _MOST_ROWS, _MOST_ROWS)]
            order = "in the order of time" if by_time else "failed and changed ones first"
            words = f"{len(ordered):,} tasks, {order}; "
            return _rows(views.task_rows(shown, some), len(ordered), words)
        return _html(views.run(shown, self.layout(asker)))

    async def run_facts(self, request: web.Request, asker: Asker) -> web.Response:
        key, run = await self._run(request, asker)
        return _html(views.run_facts(run, places.of_run(key, run.run)))

    async def task(self, request: web.Request, asker: Asker) -> web.Response:
        key, run = await self._run(request, asker)
        tasks = await self._tasks(run)
        counter = _number(request.match_info, "counter")
        index = next((i for i, each in enumerate(tasks.tasks) if each.counter == counter), None)
        if index is None:
            raise RefusedError(404, "There is no such task", "Look at the run's page again.")
        task = tasks.tasks[index]

        def read() -> tuple[list[Any], list[Any] | None]:
            ends = list(ends_of(task, run.folder))
            record = read_record(run.folder)
            if record is None:
                return ends, None
            numbers = {number for number, each in enumerate(record.tasks) if each.uuid == task.uuid}
            return ends, [each for each in record.requests if each.task in numbers]

        ends, requests = await asyncio.to_thread(read)
        details = views.task_details(ends, requests)
        if _is_fragment(request):
            return _html(details)
        return _html(views.task_page(key, run, task, details, self.layout(asker)))

    async def stdout(self, request: web.Request, asker: Asker) -> web.Response:
        key, run = await self._run(request, asker)

        text = await asyncio.to_thread(beginning_of, run.stdout, _MOST_OUTPUT)
        return _html(views.stdout(key, run, text, self.layout(asker)))

    async def compare(self, request: web.Request, asker: Asker) -> web.Response:
        key, first = await self._run(request, asker, "first")
        _, second = await self._run(request, asker, "second")
        tasks = (await self._tasks(first)).tasks, (await self._tasks(second)).tasks
        return _html(views.comparison(key, (first, second), tasks, self.layout(asker)))

    async def key_to_change(self, request: web.Request, asker: Asker) -> Key:
        key = await self._key(request, asker)
        if not await asker.reader.may_change(key):
            raise RefusedError(403, f"You may not change {key}", "It takes the right to patch it.")
        return key

    async def tasks_of(self, request: web.Request, asker: Asker) -> tuple[Key, KeptRun, RunTasks]:
        key, run = await self._run(request, asker)
        return key, run, await self._tasks(run)

    async def read_on(self, tasks: RunTasks) -> None:
        has_more = True
        while has_more:
            has_more = await asyncio.to_thread(tasks.read, _SLICE)

    async def visible(self, keys: set[Key], asker: Asker) -> set[Key]:
        """Of changed CRs, those that this reader may know of."""
        seen = await self._namespaces(asker, keys)
        return {key for key in keys if key.namespace in seen.get(key.gvk, frozenset())}

    async def _seen(self, asker: Asker) -> tuple[list[Row], str]:
        """The rows that this reader may list, and the position that they are of."""
        rows = await self._table.rows()
        position = self._feed.position
        seen = await self._namespaces(asker, rows)
        nothing: frozenset[str] = frozenset()
        return [
            row for key, row in rows.items() if key.namespace in seen.get(key.gvk, nothing)
        ], position

    async def _namespaces(self, asker: Asker, keys: Any) -> Mapping[Gvk, frozenset[str]]:
        by_kind: dict[Gvk, set[str]] = {}
        for key in keys:
            by_kind.setdefault(key.gvk, set()).add(key.namespace)
        return {
            gvk: await asker.reader.seen_namespaces(gvk, namespaces)
            for gvk, namespaces in by_kind.items()
        }

    async def _labelled(self, query: Query, asker: Asker) -> frozenset[tuple[str, str]] | None:
        if not query.label:
            return None
        named = set()
        for gvk in self._engine.facts.kinds:
            if query.kind.lower() not in ("", gvk.kind.lower()):
                continue
            pages = asker.reader.client.pages(
                gvk, query.namespace, label_selector=query.label, metadata_only=True
            )
            async for page in pages:
                for item in page.items:
                    metadata = item["metadata"]
                    named.add((metadata.get("namespace") or "", metadata["name"]))
        return frozenset(named)

    async def _key(self, request: web.Request, asker: Asker) -> Key:
        info = request.match_info
        key = places.key_of(*(info[part] for part in _PARTS))
        if key.gvk not in self._engine.facts.kinds or not await asker.reader.may_get(key):
            # The same answer for both: whoever may not know of it, is not told that it is there.
            raise RefusedError(
                404, f"There is no {key} that you may see", "Look for it among the objects."
            )
        return key

    async def _run(
        self, request: web.Request, asker: Asker, part: str = "run"
    ) -> tuple[Key, KeptRun]:
        key = await self._key(request, asker)
        if not await asker.reader.may_read_log(key):
            raise RefusedError(
                403,
                f"You may not read what runs of {key} did",
                f"It takes the right to get {self._engine.plurals().get(key.gvk, '')}/log of"
                f" {key.gvk.group or 'the core group'}.",
            )
        runs = await asyncio.to_thread(self._runs, key)
        named = [run for run in runs if run.run == request.match_info[part]]
        if not named:
            raise RefusedError(
                404, "This run is not kept any more", "Its object's page lists those that are."
            )
        return key, named[0]

    def _runs(self, key: Key) -> list[KeptRun]:
        cr = kept_cr(self._ports.root, key.gvk, key.namespace, key.name)
        return cr.runs(_MOST_RUNS)

    async def _tasks(self, run: KeptRun) -> RunTasks:
        tasks = self._read.of(run.folder)
        await self.read_on(tasks)
        return tasks

    async def _cr_page(self, key: Key, row: Row | None, asker: Asker) -> CrPage:
        problems: list[str] = []
        cr: Json | None = None
        try:
            cr = await asker.reader.client.get(key.gvk, key.namespace, key.name)
        except NotFoundError:
            pass
        except ClusterError as failure:
            problems.append(f"It could not be read: {failure.message}")
        may_read_log = await asker.reader.may_read_log(key)
        runs = await asyncio.to_thread(self._runs, key)
        things = []
        if may_read_log and cr is not None:
            written = await asyncio.to_thread(owned.written_by, runs)
            uid = str(cr["metadata"].get("uid") or "")
            things = await owned.as_they_are(written, uid, asker.reader.client)
        return CrPage(
            key,
            row,
            cr,
            runs,
            things,
            await asyncio.to_thread(_changes_since, runs, cr),
            await asker.reader.may_change(key),
            may_read_log,
            problems,
        )

    def _replica(self) -> Replica:
        facts, now = self._engine.facts, self._engine.clock.monotonic()
        while self._ended and now - self._ended[0] > _MINUTE_S:
            self._ended.popleft()
        return Replica(
            facts.version,
            socket.gethostname(),
            facts.began.isoformat(timespec="seconds").replace("+00:00", "Z"),
            self._engine.leads(),
            self._engine.leader(),
            facts.server,
            float(len(self._ended)),
        )


_PARTS = ("group", "version", "kind", "namespace", "name")


def _changes_since(runs: list[KeptRun], cr: Json | None) -> list[tuple[str, Any, Any]] | None:
    """Of the spec, since the newest good run that kept it; reads a file."""
    if cr is None:
        return None
    for run in runs:
        if run.outcome == "succeeded" and (then := read_spec(run.folder)) is not None:
            return differences(then, cr.get("spec") or {})
    return None


def _short(path: str) -> str:
    """A task's place, from `roles/`, `playbooks/` or its collection on."""
    for mark in ("/roles/", "/playbooks/", "/ansible_collections/"):
        _head, found_mark, tail = path.rpartition(mark)
        if found_mark:
            return f"{mark[1:]}{tail}" if mark != "/ansible_collections/" else tail
    return ""  # of a playbook that was made for the run


def _query(request: web.Request) -> Query:
    asked = request.query
    names = ("kind", "namespace", "name", "state", "label")
    return Query(*(asked.get(name, "").strip()[:253] for name in names))


def _number(values: Mapping[str, str], name: str) -> int:
    text = values.get(name, "")
    return int(text) if text.isdigit() and len(text) < 9 else 0


def _is_fragment(request: web.Request) -> bool:
    return request.query.get("fragment") == "1"


def _html(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/html")


def _rows(text: str, total: int, words: str) -> web.Response:
    response = _html(text)
    response.headers["X-Total"] = str(total)
    response.headers["X-Found"] = words
    return response
