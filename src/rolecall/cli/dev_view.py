"""`rolecall run --dev`: what plays do, one line a task, for the author of the role.

A line says for which CR, how it went, how long it took, and what the task is called; a wide terminal
has room for its place, too. A failure is printed in full, since that is what one is looking for.
Ansible's own output is not printed: it is in the artifacts, and `rolecall logs` shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from rolecall.cli.terminal import Colour, Screen, cells, cut, screen_of_stream
from rolecall.logs import BrokenConditionals
from rolecall.plain_text import harmless, plain
from rolecall.runner import RunEvent, RunResult
from rolecall.workqueue import Key

_WIDEST_CR = 24
_WIDE = 120  # from here on, there is room for places
_DETAILS = ("stderr", "stdout", "module_stderr", "module_stdout", "exception")
_NO_TRACE = "(traceback unavailable)"
_QUIET = frozenset({"set_fact"})


@dataclass(frozen=True, slots=True)
class _Said:
    """How a task went."""

    word: str
    colour: Colour | None
    is_failure: bool = False


class DevView:
    """The `PlayLog` of the reconcile room for developers."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._widest = 0
        self._broken_conditionals = BrokenConditionals()

    def event(self, key: Key, run_id: str, event: RunEvent, verbosity: int) -> None:  # noqa: ARG002 - a port
        """Print the line of a task that is over."""
        self._broken_conditionals.event(event)
        said = _said(event)
        if said is None:
            return
        screen = screen_of_stream(self._stream)
        self._print(self._line(key, event, said, screen))
        for line in _details(event) if said.is_failure else _message(event):
            self._print(f"    {screen.painted(line, said.colour)}")

    async def recap(self, key: Key, result: RunResult) -> None:
        """The log says how the run ended."""

    def _line(self, key: Key, event: RunEvent, said: _Said, screen: Screen) -> str:
        cr = cut(plain(f"{key.gvk.kind}/{key.name}"), _WIDEST_CR)
        self._widest = max(self._widest, cells(cr))
        seconds = event.data.get("duration")
        took = f"{seconds:.1f} s" if isinstance(seconds, int | float) else ""
        head = f"{cr}{' ' * (self._widest - cells(cr))}  {said.word:<8} {took:>8}  "
        task = plain(str(event.data.get("task") or event.data.get("name") or ""))
        width = screen.width
        # An absolute one is that of the playbook that we wrote: of no use to a reader.
        place = "" if event.place.startswith("/") else plain(event.place)
        if width is None:
            tail = f"{task}  {place}".rstrip()
        elif width >= _WIDE and place:
            room = width - cells(head) - cells(place) - 2
            shown = cut(task, max(room, 20))
            tail = f"{shown}{' ' * max(room - cells(shown), 0)}  {place}"
        else:
            tail = cut(task, max(width - cells(head), 8))
        return screen.painted(f"{head}{tail}", said.colour)

    def _print(self, line: str) -> None:
        self._stream.write(f"{line}\n")
        self._stream.flush()


_SAID = {
    "runner_on_skipped": _Said("skipped", Colour.CYAN),
    "runner_on_failed": _Said("failed", Colour.RED, is_failure=True),
    "runner_on_unreachable": _Said("no host", Colour.RED, is_failure=True),
    "runner_item_on_failed": _Said("  item", Colour.RED, is_failure=True),
    "runner_retry": _Said("again", Colour.PURPLE),
}
_IGNORED = _Said("ignored", Colour.CYAN, is_failure=True)


def _said(event: RunEvent) -> _Said | None:
    """None for what is no end of a task, or not worth a line."""
    if event.name == "runner_on_ok":
        if _result(event).get("changed"):
            return _Said("changed", Colour.YELLOW)
        return None if _action(event) in _QUIET else _Said("ok", Colour.GREEN)
    if event.name == "runner_on_failed" and event.data.get("ignore_errors") is True:
        return _IGNORED
    return _SAID.get(event.name)


def _message(event: RunEvent) -> Iterator[str]:
    """What a debug task says."""
    if event.name == "runner_on_ok" and _action(event) == "debug":
        yield from _lines(_result(event).get("msg"))


def _details(event: RunEvent) -> Iterator[str]:
    """All that is known of a failure."""
    result = _result(event)
    if event.place:
        yield f"at {event.place}"
    if "msg" not in result:
        yield from _lines(event.stdout)
        return
    yield from _lines(result["msg"])
    for name in _DETAILS:
        text = result.get(name)
        if text and text not in (result["msg"], _NO_TRACE):
            yield f"{name}:"
            yield from (f"  {line}" for line in _lines(text))


def _lines(text: object) -> Iterator[str]:
    if text:
        yield from (harmless(line) for line in str(text).splitlines())


def _action(event: RunEvent) -> str:
    return str(event.data.get("task_action", "")).rpartition(".")[2]


def _result(event: RunEvent) -> Mapping[str, Any]:
    result = event.data.get("res")
    return result if isinstance(result, dict) else {}
