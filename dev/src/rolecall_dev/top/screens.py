"""One CR with its runs, one run, and the log of a CR; and the keys that act on a CR."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, ClassVar, cast

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, OptionList, RichLog, Static
from textual.widgets.option_list import Option

from rolecall.json_object import Json
from rolecall_dev.top.operator import Operator
from rolecall_dev.top.rows import Place, place_of
from rolecall_dev.top.widgets import Confirmation, Question, shown_line

# A log keeps its newest lines.
_MOST_LINES = 20_000
# What a CR's details say of ages grows old.
_AGAIN_S = 5.0
_RUNS_HEAD = "RUN"


class OperatorApp(App[None]):
    """What screens know of the application: the operator, and what it said last."""

    def __init__(self, operator: Operator) -> None:
        super().__init__()
        self.operator = operator
        self.crs: list[Json] = []
        self.source = "looking for the engine ..."

    def cr(self, place: Place) -> Json | None:
        return next((cr for cr in self.crs if place_of(cr) == place), None)


class Looking(Screen[None]):
    """What all screens share."""

    @property
    def top(self) -> OperatorApp:
        return cast("OperatorApp", self.app)

    def action_back(self) -> None:
        self.dismiss()


class Acting(Looking):
    """A screen on which a CR is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "log", "Log"),
        Binding("r", "reconcile", "Reconcile"),
        Binding("p", "pause", "Pause/resume"),
        Binding("x", "stop", "Stop run"),
    ]

    def chosen(self) -> Json | None:
        raise NotImplementedError

    def action_log(self) -> None:
        if cr := self.chosen():
            place = place_of(cr)
            self.app.push_screen(LogScreen(f"log of {place}", ["logs", *place.words, "--follow"]))

    def action_reconcile(self) -> None:
        if cr := self.chosen():
            self._act(["reconcile", *place_of(cr).words])

    @work
    async def action_pause(self) -> None:
        cr = self.chosen()
        if cr is None:
            return
        place = place_of(cr)
        if cr["state"] == "paused" or cr.get("pause"):
            self._act(["resume", *place.words])
            return
        question = Question(f"Pause {place}: nothing runs for it until you resume it.", "reason")
        reason = await self.app.push_screen_wait(question)
        if reason is not None:
            self._act(["pause", *place.words, f"--because={reason}"])

    @work
    async def action_stop(self) -> None:
        cr = self.chosen()
        if cr is None:
            return
        place, run = place_of(cr), cr.get("run")
        if not run:
            self.notify(f"{place}: no run to stop", markup=False, severity="warning")
        elif await self.app.push_screen_wait(Confirmation(f"Stop run {run} of {place}?")):
            self._act(["stop", *place.words, f"--run={run}"])

    @work
    async def _act(self, words: Sequence[str]) -> None:
        answer = await self.top.operator.ask(words)
        severity: Any = "error" if answer.code else "information"
        self.notify(answer.text, markup=False, severity=severity)


class CrScreen(Acting):
    """What `rolecall status KIND/NAME` and `rolecall runs` print."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "Back")]

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place
        self._shown: Json | None = None
        self._runs: Sequence[str] = ()

    def compose(self) -> ComposeResult:
        yield Static(id="banner")
        yield Static(id="details")
        yield Static("RUNS", classes="heading")
        yield Static(id="head")
        yield OptionList(id="runs", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self.set_interval(_AGAIN_S, self.load)
        self.renew()

    def chosen(self) -> Json | None:
        return self.top.cr(self._place)

    def renew(self) -> None:
        cr = self.chosen()
        if cr != self._shown or not self._runs:
            self._shown = cr
            self.load()

    def on_resize(self) -> None:
        self.load()

    @work(exclusive=True)
    async def load(self) -> None:
        words, width = self._place.words, self.size.width - 4
        status = await self.top.operator.ask(["status", *words], width)
        lines = [shown_line(line) for line in status.lines] or [Text(status.text)]
        self.query_one("#details", Static).update(Text("\n").join(lines))
        runs = await self.top.operator.ask(["runs", *words], width)
        if runs.lines != self._runs:
            self._runs = runs.lines
            self._show_runs(runs.lines or [runs.text])

    def _show_runs(self, lines: Sequence[str]) -> None:
        rows = [shown_line(line) for line in lines]
        has_runs = rows[0].plain.startswith(_RUNS_HEAD)
        self.query_one("#head", Static).update(rows.pop(0) if has_runs else Text("\n").join(rows))
        shown = self.query_one(OptionList)
        at = shown.highlighted or 0
        shown.clear_options()
        for row in rows if has_runs else ():
            words = row.plain.split()
            if not words:
                break  # what follows are handlers, which `l` does not show
            shown.add_option(Option(row, id=words[0].rstrip("…")))
        if shown.option_count:
            shown.highlighted = min(at, shown.option_count - 1)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        run, words = event.option_id, self._place.words
        asked = [["runs", *words, f"--run={run}", "--timeline"], ["logs", *words, f"--run={run}"]]
        self.app.push_screen(RunScreen(f"run {run} of {self._place}", *asked))


class LogScreen(Looking):
    """The lines of a command, while they come."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "Back")]

    def __init__(self, title: str, *commands: Sequence[str]) -> None:
        super().__init__()
        self._title, self._commands = title, commands

    def compose(self) -> ComposeResult:
        yield Static(self._title, markup=False, classes="heading")
        yield RichLog(max_lines=_MOST_LINES, wrap=True, min_width=20)
        yield Footer()

    def on_mount(self) -> None:
        self.load()

    @work
    async def load(self) -> None:
        for words in self._commands:
            async with aclosing(self.top.operator.follow(words, self.width)) as lines:
                async for line in lines:
                    self.write(line)

    @property
    def width(self) -> int:
        return max(20, self.app.size.width - 4)

    def write(self, line: str) -> None:
        text = shown_line(line)
        text.no_wrap = False
        self.query_one(RichLog).write(text)


class RunScreen(LogScreen):
    """The timeline of a run, and then its output."""

    @work
    async def load(self) -> None:
        self.query_one(RichLog).auto_scroll = False
        for words in self._commands:
            answer = await self.top.operator.ask(words, self.width)
            for line in [*(answer.lines or answer.said[-1:]), ""]:
                self.write(line)
