"""The timelines of the runs that readers look at: made once for all who look.

Of an ended run it is kept, of a run in flight for a moment. Making one takes tenths of a second where a
run has thousands of tasks, so it is done in a thread.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from pathlib import Path

from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.run_timeline import RunTimeline, timeline_of
from rolecall.extensions.console.page.shown_tasks import ShownTasks
from rolecall.history import KeptRun
from rolecall.reconcile import Progress
from rolecall.record import RequestsSoFar, read_record
from rolecall.workqueue import Key

_MOST_RUNS = 4
_FRESH_S = 0.7


class ReadTimelines:
    def __init__(self, ports: PagePorts) -> None:
        self._ports, self._clock = ports, ports.engine.clock
        self._made: OrderedDict[Path, tuple[float, int, str, RunTimeline]] = OrderedDict()
        self._making = asyncio.Lock()

    async def of(self, key: Key, run: KeptRun, tasks: ShownTasks) -> RunTimeline:
        async with self._making:
            if (known := self._known(run, tasks)) is not None:
                return known
            progress, so_far = None, None
            if run.outcome == "running":
                progress = self._ports.engine.in_flight().get(key)
                so_far = self._ports.requests_so_far(key)
            # It may grow while it is drawn: by then more tasks are there.
            counter = tasks.counter
            made = await asyncio.to_thread(self._make, run, tasks, progress, so_far)
            self._made[run.folder] = self._clock.monotonic(), counter, run.outcome, made
            self._made.move_to_end(run.folder)
            while len(self._made) > _MOST_RUNS:
                self._made.popitem(last=False)
            return made

    def _known(self, run: KeptRun, tasks: ShownTasks) -> RunTimeline | None:
        made_s, counter, outcome, made = self._made.get(run.folder, (0.0, -1, "", RunTimeline()))
        if outcome != run.outcome:
            return None
        is_fresh = self._clock.monotonic() - made_s < _FRESH_S
        is_over = outcome != "running" and counter == tasks.counter
        return made if is_over or (is_fresh and counter == tasks.counter) else None

    def _make(
        self,
        run: KeptRun,
        tasks: ShownTasks,
        progress: Progress | None,
        so_far: RequestsSoFar | None,
    ) -> RunTimeline:
        if run.outcome != "running":
            record = read_record(run.folder)
        else:
            record = so_far.record() if so_far is not None else None
        if record is not None and record.run != run.run:
            record = None  # the run that was asked for ended meanwhile
        is_this = progress is not None and progress.run_id == run.run
        waits_since = progress.waits_since if is_this and progress is not None else None
        return timeline_of(run, [*tasks.tasks], record, self._clock.now(), waits_since)
