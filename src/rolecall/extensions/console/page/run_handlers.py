"""What runs did: tasks, what each was given and said, what was printed, and two runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from aiohttp import web

from rolecall.extensions.console.page import places, views
from rolecall.extensions.console.page.answers import (
    HtmlAnswer,
    is_fragment,
    number_in,
    rows_answer,
)
from rolecall.extensions.console.page.differences import differences
from rolecall.extensions.console.page.guard import Asker, RefusedError, redirect
from rolecall.extensions.console.page.layouts import Layouts
from rolecall.extensions.console.page.lookup import Lookup
from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.read_timelines import ReadTimelines
from rolecall.extensions.console.page.shown_tasks import ShownTask, beginning_of, ends_of
from rolecall.extensions.console.page.views import Before, Html, RunPage
from rolecall.extensions.console.page.views.comparison import comparison
from rolecall.extensions.console.task_times import TaskTimes
from rolecall.history import KeptRun, read_spec
from rolecall.record import read_record
from rolecall.workqueue import Key

_MOST_ROWS = 500
_MOST_OUTPUT = 1_000_000


class RunPages:
    """Handlers; each takes the right to read what runs of the CR did."""

    def __init__(self, ports: PagePorts, lookup: Lookup, layouts: Layouts) -> None:
        self._lookup, self._layouts = lookup, layouts
        self._timelines = ReadTimelines(ports)

    async def run(self, request: web.Request, asker: Asker) -> web.Response:
        if is_fragment(request):
            return await self._rows(request, asker)
        shown = await self._run_page(request, asker)
        layout = self._layouts.of(asker)
        return HtmlAnswer(await self._lookup.turns.in_thread(views.run, shown, layout))

    async def run_facts(self, request: web.Request, asker: Asker) -> web.Response:
        shown = await self._run_page(request, asker)
        return HtmlAnswer(await self._lookup.turns.in_thread(views.run_facts, shown))

    async def _rows(self, request: web.Request, asker: Asker) -> web.Response:
        key, run = await self._lookup.run(request, asker)
        shown = await self._shown(key, run, request)
        ordered = views.ordered(shown.tasks, by_time=shown.by_time)
        count = number_in(request.query, "count") or _MOST_ROWS
        some = ordered[shown.start : shown.start + min(count, _MOST_ROWS)]
        rows_html = await self._lookup.turns.in_thread(views.task_rows, shown, some)
        return rows_answer(rows_html, len(ordered), shown.found)

    async def _run_page(self, request: web.Request, asker: Asker) -> RunPage:
        """With what it takes to say why the run was started, and how far it is."""
        key, run, kept = await self._lookup.run_and_kept(request, asker)
        shown = await self._shown(key, run, request)
        before = await self._lookup.turns.in_thread(_before, run, kept)
        expected = 0
        if run.outcome == "running" and (good := _last_good(run, kept)) is not None:
            expected = len((await self._lookup.tasks(good)).tasks)
        return replace(shown, before=before, expected=expected)

    async def _shown(self, key: Key, run: KeptRun, request: web.Request) -> RunPage:
        tasks = await self._lookup.tasks(run)
        counter = tasks.counter
        timeline = await self._timelines.of(key, run, tasks)
        await self._lookup.turns.take()
        order = request.query.get("order")
        return RunPage(
            key,
            run,
            # A later reader may have read on, but has not drawn that yet.
            [task for task in tasks.tasks if task.counter in timeline.times],
            counter,
            tasks.is_cut,
            order == "time" or (order != "failed" and run.outcome != "failed"),
            number_in(request.query, "from"),
            _short,
            timeline,
        )

    async def task(self, request: web.Request, asker: Asker) -> web.Response:
        key, run = await self._lookup.run(request, asker)
        tasks = await self._lookup.tasks(run)
        counter = number_in(request.match_info, "counter")
        index = next((i for i, each in enumerate(tasks.tasks) if each.counter == counter), None)
        if index is None:
            raise RefusedError(404, "There is no such task", "Look at the run's page again.")
        task = tasks.tasks[index]

        times = (await self._timelines.of(key, run, tasks)).of(task)
        details = await self._lookup.turns.in_thread(_details, task, run.folder, times)
        if is_fragment(request):
            return HtmlAnswer(details)
        return HtmlAnswer(views.task_page(key, run, task, details, self._layouts.of(asker)))

    async def stdout(self, request: web.Request, asker: Asker) -> web.Response:
        key, run = await self._lookup.run(request, asker)
        text = await self._lookup.turns.in_thread(beginning_of, run.stdout, _MOST_OUTPUT)
        layout = self._layouts.of(asker)
        return HtmlAnswer(await self._lookup.turns.in_thread(views.stdout, key, run, text, layout))

    async def compare(self, request: web.Request, asker: Asker) -> web.Response:
        key, first, kept = await self._lookup.run_and_kept(request, asker, "first")
        _, second = await self._lookup.run(request, asker, "second")
        sides = await self._shown(key, first, request), await self._shown(key, second, request)
        layout = self._layouts.of(asker)
        return HtmlAnswer(await self._lookup.turns.in_thread(comparison, *sides, kept, layout))

    async def choose(self, request: web.Request, asker: Asker) -> web.Response:
        """To the comparison that a form asks for."""
        key = await self._lookup.key(request, asker)
        chosen = request.query.get("then", ""), request.query.get("now", "")
        if not all(chosen):
            raise RefusedError(404, "Choose two runs to compare", "The object's page lists them.")
        return redirect(places.of_comparison(key, *chosen))


def _before(run: KeptRun, kept: Sequence[KeptRun]) -> Before | None:
    """The run before it, of those that are kept newest first; reads both specs."""
    older = kept[_index_of(run, kept) + 1 :]
    if not older:
        return None
    then, now = read_spec(older[0].folder), read_spec(run.folder)
    if then is None or now is None:
        return Before(older[0])
    try:
        return Before(older[0], differences(then, now))
    except RecursionError:  # nested too deep to be readable
        return Before(older[0])


def _last_good(run: KeptRun, kept: Sequence[KeptRun]) -> KeptRun | None:
    good = (
        each
        for each in kept[_index_of(run, kept) + 1 :]
        if each.outcome == "succeeded" and each.is_finalizer == run.is_finalizer
    )
    return next(good, None)


def _index_of(run: KeptRun, kept: Sequence[KeptRun]) -> int:
    return next(index for index, each in enumerate(kept) if each.run == run.run)


def _details(task: ShownTask, folder: Path, times: TaskTimes) -> Html:
    """What a task was given, said and asked; in a thread, since it may be megabytes."""
    ends, record = list(ends_of(task, folder)), read_record(folder, of_task=task.uuid)
    if record is None:
        return views.task_details(ends, None, times)
    numbers = {number for number, each in enumerate(record.tasks) if each.uuid == task.uuid}
    requests = [each for each in record.requests if each.task in numbers]
    return views.task_details(ends, requests, times)


def _short(path: str) -> str:
    """A task's place, from `roles/`, `playbooks/` or its collection on."""
    for mark in ("/roles/", "/playbooks/", "/ansible_collections/"):
        _head, found_mark, tail = path.rpartition(mark)
        if found_mark:
            return f"{mark[1:]}{tail}" if mark != "/ansible_collections/" else tail
    return ""  # of a playbook that was made for the run
