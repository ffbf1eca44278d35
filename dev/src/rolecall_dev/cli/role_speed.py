"""`--explain-speed`: each task of a run with its time, the way it was run, and why not a faster."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rolecall.runner import RunResult

# From fast to slow, each with what it costs and what to do about it.
_WAYS = {
    "inline": "in the run's own process",
    "in-process": "the module too, in the run's own process",
    "forked": "the module in one fork of the run; a module of kubernetes.core would need none",
    "stock": "as ansible-core does it: new processes for each task; the reason says why",
}


def explain(result: RunResult) -> str:
    """The table, or the reason why there is none."""
    file = result.artifacts / "speed.json" if result.artifacts else None
    if result.way != "warm" or file is None or not file.is_file():
        return "the whole run was a stock one, so every task started new processes"
    return _table(file)


def _table(file: Path) -> str:
    speed = json.loads(file.read_text(encoding="utf-8"))
    table = Table(title=f"{speed['seconds']:.3f} s in all", title_justify="left")
    for column in ("ms", "way", "task", "place", "why this way"):
        table.add_column(column, justify="right" if column == "ms" else "left")
    for task in speed["tasks"]:
        place = task["place"].rsplit("/roles/", 1)[-1]
        milliseconds = f"{task['seconds'] * 1000:.1f}"
        table.add_row(milliseconds, task["way"], task["task"], place, task["reason"])
    used = {task["way"] for task in speed["tasks"]}
    legend = [f"{way}: {meaning}" for way, meaning in _WAYS.items() if way in used]
    console = Console(width=150, color_system=None)
    with console.capture() as capture:
        console.print(table)
        console.print("\n".join(legend))
    return capture.get().rstrip()
