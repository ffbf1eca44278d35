"""Many runs leave nothing: no memory, descriptor, process, thread or file grows with their number.

`make bench-soak` does the same a thousand times, with the API server, and prints the figures.
"""

from __future__ import annotations

import gc
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from rolecall_base.processes import descendants_of, resident_bytes
from tests.fixtures.eventually import eventually_async
from tests.play.warm.runs import Tasks, Workshop, debug, descriptors, shell, workshop

MODULE = """#!/usr/bin/python
from ansible.module_utils.basic import AnsibleModule
AnsibleModule(argument_spec=dict()).exit_json(changed=True)
"""
FIRST, MORE = 10, 60  # what is made once, is made by then
# The host allocates and frees messages; what leaks once a run is far more by then.
MOST_GROWTH_BYTES = 1 << 20
# A message of the host that was kept without need was 1.7 KB for each run. What Python itself keeps of
# dictionaries and tuples for the next ones, however many there were, was 40 KB here at most.
MOST_KEPT_FOR_A_RUN_BYTES = 1024


@dataclass
class Traces:
    """What could grow."""

    host_bytes: int
    host_descriptors: int
    engine_descriptors: int
    processes: int
    threads: int
    files: list[str]

    @classmethod
    def of(cls, shop: Workshop) -> Traces:
        pid = shop.host_pid
        return cls(
            resident_bytes(pid),
            descriptors(pid),
            descriptors("self"),
            len(descendants_of(pid)),
            threading.active_count(),
            sorted(path.name for path in shop.folder.iterdir()),
        )

    def covers(self, later: Traces) -> bool:
        """Whether nothing grew but perhaps memory; what was still going away may be gone."""
        counts = ("host_descriptors", "engine_descriptors", "processes", "threads")
        return set(later.files) <= set(self.files) and all(
            getattr(later, count) <= getattr(self, count) for count in counts
        )


@pytest.mark.nightly
async def test_sixty_runs_leave_no_trace(tmp_path: Path) -> None:
    async with workshop(tmp_path, keep_bytes=1 << 20) as shop:
        tasks: Tasks = [
            {"ansible.builtin.set_fact": {"fact": "{{ range(100) | list }}"}},
            {"marks": None, "register": "marked"},
            {"ansible.builtin.copy": {"content": "{{ fact }}", "dest": "{{ work }}/copied"}},
            shell("true"),
            debug("{{ marked.changed }}"),
        ]
        role = shop.role("busy", tasks, library__marks_py=MODULE)
        fails = shop.role("fails", [{"ansible.builtin.fail": {"msg": "always"}}])
        with _memory_traced():
            for _ in range(FIRST // 2):
                await _one_of_each(shop, role, fails)
            before, kept_before = await _at_rest(shop), _kept_bytes()
            for _ in range(MORE // 2):
                await _one_of_each(shop, role, fails)
            after = await eventually_async(lambda: Traces.of(shop), before.covers)
            kept = _kept_bytes() - kept_before
    assert after.host_bytes - before.host_bytes < MOST_GROWTH_BYTES
    assert kept < MORE * MOST_KEPT_FOR_A_RUN_BYTES


@contextmanager
def _memory_traced() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


def _kept_bytes() -> int:
    """What this process holds since tracing began: the engine's side of the runs."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


async def _at_rest(shop: Workshop) -> Traces:
    """Once a spare process stands by for the next run."""
    return await eventually_async(lambda: Traces.of(shop), lambda now: now.processes == 1)


async def _one_of_each(shop: Workshop, works: Path, fails: Path) -> None:
    for role, is_expected in ((works, True), (fails, False)):
        result = await shop.run(role, keep_artifacts=2)
        assert (result.way, result.succeeded) == ("warm", is_expected)
