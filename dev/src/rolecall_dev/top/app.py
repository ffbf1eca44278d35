"""The application: the table of all CRs, which other screens are opened from."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Footer, Input, Static

from rolecall.clock import SystemClock
from rolecall.json_object import Json
from rolecall.plain_text import plain
from rolecall_dev.top.operator import CommandRunner, LostEngineError, Seen
from rolecall_dev.top.rows import SORTS, chosen, counts, place_of
from rolecall_dev.top.screens import Acting, CrScreen, OperatorApp, top_of
from rolecall_dev.top.widgets import CrTable, Dialog

_RETRY_S = 2.0
_TICK_S = 1.0
_HELP = """\
Enter  open the CR, or one of its runs
Esc    back
/      filter: rows that contain a text
s      sort by the next of kind, for, state, name
l      follow the log of the CR
r      reconcile the CR now
p      pause the CR with a reason, or resume it
x      stop the current run of the CR
q      quit

The commands of these names do the same:
`rolecall pause --help` explains a pause."""


class TableScreen(Acting):
    """All CRs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("s", "sort", "Sort"),
        Binding("escape", "end_filter", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._sort = next(iter(SORTS))
        self._title, self._table = Static(id="title"), CrTable()
        self._filter = Input(
            id="filter", placeholder="filter: Enter keeps it, Esc ends it", compact=True
        )

    def compose(self) -> ComposeResult:
        yield self._title
        yield self.banner
        yield self._table
        yield self._filter
        yield Footer()

    def on_mount(self) -> None:
        self._filter.display = False
        self._table.focus()
        self.renew()

    def chosen(self) -> Json | None:
        return self._table.cr

    def renew(self) -> None:
        """Show what is known now."""
        top = top_of(self)
        shown = chosen(top.crs, self._filter.value, self._sort, SystemClock().now())
        self._table.show(shown, "no CR" if top.source else "")
        parts = [counts(top.crs), f"sorted by {self._sort}"] if top.source else []
        if self._filter.value:
            parts.append(f"{len(shown)} with `{self._filter.value}`")
        title = Text.assemble(("rolecall top", "bold"), *(f" · {plain(part)}" for part in parts))
        title.append(f"\n{top.source or 'looking for the engine ...'}", "dim")
        self._title.update(title)

    def action_sort(self) -> None:
        names = list(SORTS)
        self._sort = names[(names.index(self._sort) + 1) % len(names)]
        self.renew()

    def action_filter(self) -> None:
        self._filter.display = True
        self._filter.focus()

    def action_end_filter(self) -> None:
        self._filter.value = ""
        self._leave_filter()

    def on_input_changed(self) -> None:
        self.renew()

    def on_input_submitted(self) -> None:
        self._leave_filter()

    def _leave_filter(self) -> None:
        self._filter.display = False
        self._table.focus()

    def on_cr_table_opened(self) -> None:
        if cr := self.chosen():
            self.app.push_screen(CrScreen(place_of(cr)))


class TopApp(OperatorApp):
    """Follows the operator, and shows what it says on the screen that is open."""

    CSS_PATH = "top.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, operator: CommandRunner, retry_s: float = _RETRY_S) -> None:
        super().__init__(operator)
        self._retry_s, self._loss = retry_s, ""

    def on_mount(self) -> None:
        self.push_screen(TableScreen())
        self.set_interval(_TICK_S, self._renew)
        self._follow()

    def action_help(self) -> None:
        self.push_screen(Dialog(_HELP))

    @work
    async def _follow(self) -> None:
        """For as long as we run: engines are restarted, and connections end."""
        while True:
            try:
                async with aclosing(self.operator.states()) as states:
                    async for seen in states:
                        self._take(seen)
            except LostEngineError as loss:
                self._loss = plain(str(loss)) or "no reason is known"
                self._renew()
            await asyncio.sleep(self._retry_s)

    def _take(self, seen: Seen) -> None:
        self.crs = seen.document["crs"]
        if seen.document["engine"] is None:
            self.source = "what the files of its runs say"
        else:
            self.source, self._loss = seen.source, ""
        self._renew()

    def _renew(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, Acting):
                screen.renew()
                screen.banner.update(Text(f"No engine answers, trying again: {self._loss}"))
                screen.banner.display = bool(self._loss)
