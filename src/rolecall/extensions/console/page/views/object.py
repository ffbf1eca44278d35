"""One live object as YAML, with who wrote each line: values in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from rolecall.clock import time_text
from rolecall.extensions.console.blame import Blamed, who, yaml_lines
from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.views.rendering import Html, PageLayout, page, path_to
from rolecall.plain_text import plain
from rolecall.workqueue import Key

_LONGEST_VALUE, _LONGEST_LINE = 300, 1_000
# Without a write and without a manager: what identifies it, and defaults.
_SERVER = "the API server"


@dataclass(frozen=True, slots=True)
class ObjectPage:
    key: Key  # of the CR that it belongs to
    title: str
    here: str  # its address
    blamed: Sequence[Blamed]  # the first lines; those that were asked for
    more: int = 0  # lines that are not shown
    is_filtered: bool = False  # only what tasks wrote
    may_read_log: bool = False
    notes: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class _Writer:
    words: str
    at: str = ""
    run: str = ""  # its address
    task: str = ""  # its address


@dataclass(frozen=True, slots=True)
class WrittenLines:
    """Lines in a row that one writer wrote last."""

    writer: _Writer
    text: str


def object_yaml(shown: ObjectPage, layout: PageLayout) -> Html:
    groups = _groups(shown.key, shown.blamed)
    above = path_to(shown.key)
    return page("object", shown.title, layout, above=above, shown=shown, groups=groups)


def _groups(key: Key, blamed: Sequence[Blamed]) -> list[WrittenLines]:
    lines: list[tuple[_Writer, str]] = []
    before: tuple[str | int, ...] = ()
    for each in blamed:
        writer = _writer(key, each)
        # Lines around a field stand with the first field in them.
        lines += [(writer, _cut(line)) for line in yaml_lines(before, _shortened(each).field)]
        before = each.field.keys
    return [
        WrittenLines(writer, "\n".join(text for _, text in rows))
        for writer, rows in groupby(lines, key=lambda line: line[0])
    ]


def _writer(key: Key, each: Blamed) -> _Writer:
    write, manager = each.write, each.manager
    words = plain(who(each))[:_LONGEST_LINE] or _SERVER
    if write is None:
        at = time_text(manager.at) if manager is not None and manager.at is not None else ""
        return _Writer(words, at)
    task = places.of_task_id(key, write.run, write.task_id) if write.task_id else ""
    return _Writer(words, time_text(write.at), places.of_run(key, write.run), task)


def _shortened(each: Blamed) -> Blamed:
    """A value is text of one line, however long it is."""
    value = each.field.value
    if not isinstance(value, str) or len(value) <= _LONGEST_VALUE:
        return each
    cut = f"{value[:_LONGEST_VALUE]}… and {len(value) - _LONGEST_VALUE:,} characters more"
    return replace(each, field=replace(each.field, value=cut))


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"
