"""One CR with its runs, one run, and the log of a CR; and the keys that act on a CR."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress
from itertools import takewhile
from typing import Any, ClassVar, cast

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, OptionList, RichLog, Static

from rolecall.json_object import Json
from rolecall_dev.top.operator import CommandRunner
from rolecall_dev.top.rows import CrPlace, place_of
from rolecall_dev.top.widgets import Confirmation, ReasonDialog, shown_line

# A log keeps its newest lines.
_MOST_LINES = 20_000
# What a CR's details say of ages grows old.
_AGAIN_S = 5.0
_RUNS_HEAD = "RUN"
# Beside what commands print: the padding of a screen, and its scroll bar.
_MARGIN = 6


class OperatorApp(App[None]):
    """What screens know of the application: the operator, and what it said last."""

    def __init__(self, operator: CommandRunner) -> None:
        super().__init__()
        self.operator = operator
        self.crs: list[Json] = []
        self.source = ""  # which engine it is; empty: none answered yet

    def cr(self, place: CrPlace) -> Json | None:
        return next((cr for cr in self.crs if place_of(cr) == place), None)

    @work
    async def act(self, words: Sequence[str]) -> None:
        """Also when its screen is left meanwhile."""
        answer = await self.operator.ask(words)
        severity: Any = "error" if answer.code else "information"
        self.notify(answer.text, markup=False, severity=severity)


def top_of(screen: Screen[None]) -> OperatorApp:
    """The application of the screen."""
    return cast("OperatorApp", screen.app)


class Acting(Screen[None]):
    """A screen on which a CR is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "log", "Log"),
        Binding("r", "reconcile", "Reconcile"),
        Binding("p", "pause", "Pause/resume"),
        Binding("x", "stop", "Stop run"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.banner = Static(id="banner")

    def chosen(self) -> Json | None:
        raise NotImplementedError

    def renew(self) -> None:
        """Show what is known now."""
        raise NotImplementedError

    def action_log(self) -> None:
        if cr := self.chosen():
            place = place_of(cr)
            self.app.push_screen(LogScreen(f"log of {place}", ["logs", *place.words, "--follow"]))

    def action_reconcile(self) -> None:
        if cr := self.chosen():
            top_of(self).act(["reconcile", *place_of(cr).words])

    @work
    async def action_pause(self) -> None:
        cr = self.chosen()
        if cr is None:
            return
        place = place_of(cr)
        if cr["state"] == "paused" or cr.get("pause"):
            top_of(self).act(["resume", *place.words])
            return
        text = f"Pause {place}: nothing runs for it until you resume it."
        question = ReasonDialog(text, "Enter: pause   Esc: cancel")
        reason = await self.app.push_screen_wait(question)
        if reason is not None:
            top_of(self).act(["pause", *place.words, f"--because={reason}"])

    @work
    async def action_stop(self) -> None:
        cr = self.chosen()
        if cr is None:
            return
        place, run = place_of(cr), cr.get("run")
        if not run:
            self.notify(f"{place}: no run to stop", markup=False, severity="warning")
            return
        question = Confirmation(f"Stop run {run} of {place}?", "y: yes   n: no")
        if await self.app.push_screen_wait(question):
            top_of(self).act(["stop", *place.words, f"--run={run}"])


class CrScreen(Acting):
    """What `rolecall status KIND/NAME` and `rolecall runs` print."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back")]

    def __init__(self, place: CrPlace) -> None:
        super().__init__()
        self._place = place
        self._details, self._head = Static(id="details"), Static(id="head")
        self._list = OptionList(id="runs", markup=False)
        self._shown: Json | None = None
        self._runs: Sequence[str] = ()
        self._ids: list[str] = []
        self._changed = asyncio.Event()

    def compose(self) -> ComposeResult:
        yield self.banner
        yield self._details
        yield Static("RUNS", classes="heading")
        yield self._head
        yield self._list
        yield Footer()

    def on_mount(self) -> None:
        self._list.focus()
        self.load()

    def chosen(self) -> Json | None:
        return top_of(self).cr(self._place)

    def renew(self) -> None:
        if (cr := self.chosen()) != self._shown:
            self._shown = cr
            self._changed.set()

    def on_resize(self) -> None:
        self._changed.set()

    @work
    async def load(self) -> None:
        """Again and again: one after the other, however long the commands take."""
        while True:
            self._changed.clear()
            words, width = self._place.words, max(20, self.size.width - _MARGIN)
            status = await top_of(self).operator.ask(["status", *words], width)
            lines = [shown_line(line) for line in status.lines] or [Text(status.text)]
            self._details.update(Text("\n").join(lines))
            runs = await top_of(self).operator.ask(["runs", *words], width)
            if runs.lines != self._runs:
                self._runs = runs.lines
                self._show_runs(runs.lines or [runs.text])
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), _AGAIN_S)

    def _show_runs(self, lines: Sequence[str]) -> None:
        rows = [shown_line(line) for line in lines]
        has_runs = rows[0].plain.startswith(_RUNS_HEAD)
        self._head.update(rows.pop(0) if has_runs else Text("\n").join(rows))
        # Behind an empty line are handlers.
        runs = list(takewhile(lambda row: row.plain, rows)) if has_runs else []
        self._ids = [row.plain.split()[0].rstrip("…") for row in runs]
        at = self._list.highlighted or 0
        self._list.set_options(runs)
        self._list.highlighted = min(at, len(runs) - 1) if runs else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        run, words = self._ids[event.option_index], self._place.words
        asked = [["runs", *words, f"--run={run}", "--timeline"], ["logs", *words, f"--run={run}"]]
        self.app.push_screen(RunScreen(f"run {run} of {self._place}", *asked))


class LogScreen(Screen[None]):
    """The lines of a command, while they come."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back")]

    def __init__(self, title: str, *commands: Sequence[str]) -> None:
        super().__init__()
        self._title, self._commands = title, commands
        self._log = RichLog(max_lines=_MOST_LINES, wrap=True, min_width=20)

    def compose(self) -> ComposeResult:
        yield Static(self._title, markup=False, classes="heading")
        yield self._log
        yield Footer()

    def on_mount(self) -> None:
        self.load()

    @work
    async def load(self) -> None:
        for words in self._commands:
            async with aclosing(top_of(self).operator.follow(words, self.width)) as lines:
                async for line in lines:
                    self.write(line)

    @property
    def width(self) -> int:
        return max(20, self.app.size.width - _MARGIN)

    def write(self, line: str) -> None:
        self._log.write(shown_line(line), width=self.width)


class RunScreen(LogScreen):
    """The timeline of a run, and then its output."""

    @work
    async def load(self) -> None:
        self._log.auto_scroll = False
        for words in self._commands:
            answer = await top_of(self).operator.ask(words, self.width)
            for line in [*(answer.lines or answer.said[-1:]), ""]:
                self.write(line)
