"""Shows lines that change: in place on a terminal, one after the other elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.cli.terminal import Screen

_HOME = "\x1b[H"
_CLEAR_LINE = "\x1b[K"
_CLEAR_REST = "\x1b[J"
_CLEAR_ALL = "\x1b[2J"


class Redraw:
    """What was drawn last is drawn over; where nobody looks, only lines that are new are printed."""

    def __init__(self) -> None:
        self._has_drawn = False
        self._last: set[str] = set()

    def draw(self, lines: Sequence[str], screen: Screen) -> None:
        if screen.is_terminal:
            self._over(lines, screen)
        else:
            for line in lines:
                if line not in self._last:
                    print(line, flush=True)
            self._last = set(lines)

    def _over(self, lines: Sequence[str], screen: Screen) -> None:
        room = max(1, screen.height - 1)
        shown = list(lines[:room])
        if len(lines) > room:
            shown[-1] = f"… and {len(lines) - room + 1} more"
        start = _HOME if self._has_drawn else _CLEAR_ALL + _HOME
        self._has_drawn = True
        text = "".join(f"{line}{_CLEAR_LINE}\n" for line in shown)
        print(f"{start}{text}{_CLEAR_REST}", end="", flush=True)
