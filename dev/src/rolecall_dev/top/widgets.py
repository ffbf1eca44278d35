"""The table of CRs, and questions to the person.

Text of CRs is hostile: it becomes Textual's content as `Text`, whose markup is never read, and the
colours of commands are all that is left of control characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from rolecall.cli import Screen, cr_rows
from rolecall.clock import SystemClock
from rolecall.json_object import Json
from rolecall.plain_text import harmless
from rolecall_dev.top.rows import CrPlace, place_of


def shown_line(line: str) -> Text:
    """A line of a command, with its colours."""
    return Text.from_ansi(harmless(line, keeps_colours=True))


class CrTable(Widget, can_focus=True):
    """Only rows that fit are laid out, so ten thousand CRs cost no more than forty."""

    class Opened(Message):
        """A CR was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "move(-1000000)", show=False),
        Binding("end", "move(1000000)", show=False),
        Binding("enter", "open", "Open"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._crs: Sequence[Json] = ()
        self._if_none = ""
        self._place: CrPlace | None = None
        self._index = self._first = 0

    @property
    def cr(self) -> Json | None:
        """The chosen one."""
        return self._crs[self._index] if self._crs else None

    def show(self, crs: Sequence[Json], if_none: str) -> None:
        """The chosen CR stays chosen, wherever it goes."""
        self._crs, self._if_none = crs, if_none
        places = (number for number, cr in enumerate(crs) if place_of(cr) == self._place)
        self._choose(next(places, self._index))

    def render(self) -> Text:
        room = max(1, self.size.height - 1)
        self._first = max(self._index - room + 1, min(self._first, self._index))
        window = self._crs[self._first : self._first + room]
        screen = Screen(is_terminal=True, has_colours=True, width=self.size.width)
        lines = [
            shown_line(line)
            for line in cr_rows(window, screen, SystemClock().now()) or [self._if_none]
        ]
        lines[0].stylize("bold")
        if window:
            chosen = lines[1 + self._index - self._first]
            chosen.pad_right(max(0, self.size.width - chosen.cell_len))
            chosen.stylize("reverse")
        return Text("\n", no_wrap=True).join(lines)

    def action_move(self, by: int) -> None:
        self._choose(self._index + by)

    def action_page(self, by: int) -> None:
        self._choose(self._index + by * max(1, self.size.height - 2))

    def action_open(self) -> None:
        if self._crs:
            self.post_message(self.Opened())

    def on_click(self, event: Click) -> None:
        number = self._first + event.y - 1
        if event.y > 0 and number < len(self._crs):
            self._choose(number)
            if event.chain > 1:
                self.action_open()

    def on_mouse_scroll_down(self) -> None:
        self._choose(self._index + 1)

    def on_mouse_scroll_up(self) -> None:
        self._choose(self._index - 1)

    def _choose(self, index: int) -> None:
        self._index = max(0, min(index, len(self._crs) - 1))
        self._place = place_of(self._crs[self._index]) if self._crs else self._place
        self.refresh()


class Dialog(ModalScreen[Any]):
    """A text over the screen, with an answer; Escape: None."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss(None)", "Close")]

    def __init__(self, text: str, hint: str = "Esc: close") -> None:
        super().__init__()
        self._text, self._hint = text, hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._text, markup=False)
            yield from self.fields()
            yield Static(self._hint, markup=False, classes="hint")

    def fields(self) -> ComposeResult:
        yield from ()


class ReasonDialog(Dialog):
    """Asks for a line of text."""

    def fields(self) -> ComposeResult:
        yield Input(placeholder="reason")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class Confirmation(Dialog):
    """Yes or no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y", "dismiss(True)", "Yes"),
        ("n", "dismiss(False)", "No"),
    ]
