"""What runs did: tasks, what each was given and said, what was printed, and two runs side by side."""

from __future__ import annotations

import asyncio
from pathlib import Path

from aiohttp import web

from rolecall.extensions.console.page import places, views
from rolecall.extensions.console.page.answers import (
    html_answer,
    is_fragment,
    number_in,
    rows_answer,
)
from rolecall.extensions.console.page.guard import Asker, RefusedError
from rolecall.extensions.console.page.layouts import Layouts
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.shown_tasks import ShownTask, beginning_of, ends_of
from rolecall.extensions.console.page.views import Html, RunPage
from rolecall.record import read_record

_MOST_ROWS = 500
_MOST_OUTPUT = 1_000_000


class RunPages:
    """Handlers; each takes the right to read what runs of the CR did."""

    def __init__(self, lookup: Lookup, layouts: Layouts) -> None:
        self._lookup, self._layouts = lookup, layouts

    async def run(self, request: web.Request, asker: Asker) -> web.Response:
        key, run = await self._lookup.run(request, asker)
        tasks = await self._lookup.tasks(run)
        by_time = request.query.get("order") == "time"
        start, count = number_in(request.query, "from"), number_in(request.query, "count")
        shown = RunPage(key, run, tasks.tasks, tasks.counter, tasks.is_cut, by_time, start, _short)
        if is_fragment(request):
            ordered = views.ordered(shown.tasks, by_time=by_time)
            some = ordered[start : start + min(count or _MOST_ROWS, _MOST_ROWS)]
            rows_html = await asyncio.to_thread(views.task_rows, shown, some)
            return rows_answer(rows_html, len(ordered), shown.found)
        return html_answer(views.run(shown, self._layouts.of(asker)))

    async def run_facts(self, request: web.Request, asker: Asker) -> web.Response:
        key, run = await self._lookup.run(request, asker)
        return html_answer(views.run_facts(run, places.of_run(key, run.run)))

    async def task(self, request: web.Request, asker: Asker) -> web.Response:
        key, run = await self._lookup.run(request, asker)
        tasks = await self._lookup.tasks(run)
        counter = number_in(request.match_info, "counter")
        index = next((i for i, each in enumerate(tasks.tasks) if each.counter == counter), None)
        if index is None:
            raise RefusedError(404, "There is no such task", "Look at the run's page again.")
        task = tasks.tasks[index]

        details = await asyncio.to_thread(_details, task, run.folder)
        if is_fragment(request):
            return html_answer(details)
        return html_answer(views.task_page(key, run, task, details, self._layouts.of(asker)))

    async def stdout(self, request: web.Request, asker: Asker) -> web.Response:
        key, run = await self._lookup.run(request, asker)
        text = await asyncio.to_thread(beginning_of, run.stdout, _MOST_OUTPUT)
        layout = self._layouts.of(asker)
        return html_answer(await asyncio.to_thread(views.stdout, key, run, text, layout))

    async def compare(self, request: web.Request, asker: Asker) -> web.Response:
        key, first = await self._lookup.run(request, asker, "first")
        _, second = await self._lookup.run(request, asker, "second")
        tasks = (await self._lookup.tasks(first)).tasks, (await self._lookup.tasks(second)).tasks
        runs, layout = (first, second), self._layouts.of(asker)
        return html_answer(await asyncio.to_thread(views.comparison, key, runs, tasks, layout))


def _details(task: ShownTask, folder: Path) -> Html:
    """What a task was given, said and asked; in a thread, since it may be megabytes."""
    ends, record = list(ends_of(task, folder)), read_record(folder)
    if record is None:
        return views.task_details(ends, None)
    numbers = {number for number, each in enumerate(record.tasks) if each.uuid == task.uuid}
    return views.task_details(ends, [each for each in record.requests if each.task in numbers])


def _short(path: str) -> str:
    """A task's place, from `roles/`, `playbooks/` or its collection on."""
    for mark in ("/roles/", "/playbooks/", "/ansible_collections/"):
        _head, found_mark, tail = path.rpartition(mark)
        if found_mark:
            return f"{mark[1:]}{tail}" if mark != "/ansible_collections/" else tail
    return ""  # of a playbook that was made for the run
