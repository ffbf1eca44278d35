"""`rolecall runs KIND/NAME --record`: what one run read and wrote, in the form that was asked for."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rolecall.cli.engine_choice import Here, place_or_relay, run_called
from rolecall.cli.kind_words import CrWord, named_cr
from rolecall.cli.spans import seconds_text
from rolecall.cli.terminal import say, screen_now
from rolecall.errors import InputError
from rolecall.extensions.console.commands.record_text import record_lines
from rolecall.extensions.console.commands.record_words import notes_on, summary, why_no_record
from rolecall.extensions.console.commands.timeline_page import timeline_page
from rolecall.extensions.console.commands.timeline_text import timeline_lines
from rolecall.history import KeptRun
from rolecall.json_object import Json
from rolecall.plain_text import plain
from rolecall.record import RunRecord, axis_of, phases_of, read_record, record_json

_STDOUT = "-"


def show_record(arguments: argparse.Namespace) -> int:
    """As text, timeline, page or JSON; 1 where there is no record."""
    word = named_cr(arguments.what)
    page = Path(arguments.html) if arguments.html not in (None, _STDOUT) else None
    if page is not None and not page.parent.is_dir():
        raise InputError(f"`{page}` cannot be written: there is no folder `{page.parent}`")
    pieces: list[bytes] = []
    if page is None:
        here = place_or_relay(arguments)
    else:  # the page is for this machine, wherever it is made
        here = place_or_relay(arguments, _words_for_stdout(arguments), pieces.append)
    if isinstance(here, int):
        if page is not None and not here:
            _write_page(page, b"".join(pieces).decode(errors="replace"))
        return here
    cr = here.cr(word, arguments.namespace)
    run = _chosen(here, cr, word, arguments.run_id)
    record = read_record(run.folder)
    if arguments.output == "json":
        _print_json(cr, run, record)
    elif record is None:
        say(plain(f"run {run.run} of {word} has no record: {why_no_record(run)}"))
    elif arguments.html:
        text = _page(word, run, record)
        if page is None:
            print(text, end="")
        else:
            _write_page(page, text)
    else:
        _print_text(word, run, record, is_timeline=arguments.timeline)
    return 0 if record is not None else 1


def _chosen(here: Here, cr: Json, word: CrWord, run_id: str | None) -> KeptRun:
    runs = here.runs(cr)
    if run_id:
        return run_called(runs, run_id, word)
    if not runs:
        raise InputError(f"no run of `{word}` is kept")
    # One in flight has none yet.
    ended = [run for run in runs if run.outcome != "running"]
    return ended[0] if ended else runs[0]


def _print_json(cr: Json, run: KeptRun, record: RunRecord | None) -> None:
    named = {key: cr[key] for key in ("kind", "namespace", "name")}
    why = why_no_record(run) if record is None else ""
    found = None if record is None else record_json(record)
    print(json.dumps({**named, "run": run.run, "record": found, "why_none": why}, indent=2))


def _print_text(word: CrWord, run: KeptRun, record: RunRecord, *, is_timeline: bool) -> None:
    phases, screen = phases_of(record), screen_now()
    print(plain(_title(word, run, record)))
    for note in notes_on(record, phases):
        print(plain(f"note: {note}"))
    print()
    if is_timeline:
        lines = timeline_lines(phases, axis_of(phases, record), screen)
    else:
        lines = record_lines(phases, screen)
    print("\n".join(lines))


def _title(word: CrWord, run: KeptRun, record: RunRecord) -> str:
    began = f"began {record.began:%Y-%m-%d %H:%M:%S} UTC"
    took = seconds_text(run.seconds)
    ending = f"{run.outcome} after {took}" if took else run.outcome
    cause = f" ({run.cause})" if run.cause else ""
    return f"run {run.run} of {word}{cause}, {began}, {ending}: {summary(record)}"


def _page(word: CrWord, run: KeptRun, record: RunRecord) -> str:
    phases = phases_of(record)
    about = [_title(word, run, record), *notes_on(record, phases)]
    return timeline_page(f"{word}: run {run.run}", about, phases, axis_of(phases, record))


def _write_page(page: Path, text: str) -> None:
    try:
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"`{page}` could not be written: {error.strerror}") from error
    say(f"the timeline is in {page}")


def _words_for_stdout(arguments: argparse.Namespace) -> list[str]:
    """What was typed, but for where the page goes."""
    words, kept = iter(arguments.typed), []
    for word in words:
        if word == "--html":
            next(words, None)
        elif not word.startswith("--html="):
            kept.append(word)
    return [*kept, f"--html={_STDOUT}"]
