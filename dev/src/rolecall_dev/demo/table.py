"""The table that people see."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from rolecall_dev.demo.live_rows import Row

_COLOURS = {"True": "green", "False": "yellow", "Unknown": "dim"}


def table_of(rows: Sequence[Row], title: str) -> Table:
    table = Table(title=title, title_justify="left", expand=False)
    for column in ("kind", "name", "Ready", "after", "reason", "owns"):
        table.add_column(column, justify="right" if column == "after" else "left")
    for row in rows:
        took = "" if row.ready_after_s is None else f"{row.ready_after_s:.2f} s"
        status = f"[{_COLOURS.get(row.status, 'dim')}]{row.status}[/]"
        table.add_row(row.kind, row.name, status, took, row.reason, ", ".join(row.dependents))
    return table
