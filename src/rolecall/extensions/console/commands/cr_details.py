"""One CR in full, as `rolecall status KIND/NAME` shows it: its state, why, and what follows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from rolecall.cli.cr_table import STATE_COLOURS, began, next_text, pause_text, urgency
from rolecall.cli.engine_choice import who_has
from rolecall.cli.spans import moment, seconds_text, since, span
from rolecall.cli.terminal import Screen
from rolecall.clock import time_text
from rolecall.json_object import Json
from rolecall.plain_text import plain


def details(cr: Json, screen: Screen, now: datetime) -> list[str]:
    """One CR in full: here a reason is not cut but folded below its word."""
    place = f"{cr['namespace']}/{cr['name']}" if cr["namespace"] else cr["name"]
    generation = f", generation {cr['generation']}" if cr.get("generation") else ""
    lines = [plain(f"{cr['kind']} {place} ({cr['api_version']}{generation})")]
    for title, text in _facts(cr, now):
        lines += _folded(title, plain(text), screen)
    return lines


def _facts(cr: Json, now: datetime) -> Iterator[tuple[str, str]]:
    last, why = cr.get("last") or {}, why_text(cr)
    age = since(cr.get("began") if cr["state"] == "running" else began(cr), now)
    yield "state", cr["state"] + (f" for {age}" if age else "")
    if why:
        yield "why", why
    if cr.get("shard") is not None:
        yield "replica", who_has(cr)
    yield from _of_run(cr, now)
    if last:
        yield from _of_last(last, why, now)
    if when := next_text(cr, now):
        yield "next", when
    for each in cr.get("handlers") or ():
        yield "handler", _handler(each, now)


def _of_run(cr: Json, now: datetime) -> Iterator[tuple[str, str]]:
    """What the CR's run in flight, or its key in the queue, is at."""
    if cr.get("cause"):
        yield "cause", " ".join(filter(None, (cr["cause"], urgency(cr))))
    if cr.get("run"):
        yield "run", cr["run"]
    if cr.get("task"):
        place = f" ({cr['place']})" if cr.get("place") else ""
        yield "task", f"{cr['task']}{place}, for {since(cr.get('task_since'), now)}"
    if cr.get("waits_since"):
        yield "waits", f"for {since(cr['waits_since'], now)}, and needs no slot"
    if cr["state"] == "running":
        yield "stop", _what_stops(cr)


def _what_stops(cr: Json) -> str:
    """Who or what ends the run in flight."""
    text = f"`rolecall stop {_word(cr)}` ends this run"
    began_at = moment(cr.get("began"))
    limit_s, silence_s = cr.get("timeout_s"), cr.get("no_progress_timeout_s")
    if began_at is not None and limit_s is not None:
        when = began_at + timedelta(seconds=limit_s)
        text += f", as its time limit of {span(limit_s)} does at {time_text(when)}"
    if silence_s is not None:
        text += f"; without output, the engine stops it after {span(silence_s)}"
    return text


def _of_last(last: Json, why: str, now: datetime) -> Iterator[tuple[str, str]]:
    """How the last run ended, and its reason unless `why` contains it."""
    ended = since(last.get("ended"), now)
    took = seconds_text(last.get("seconds"))
    parts = (last.get("outcome"), ended and f"{ended} ago", took and f"after {took}")
    yield "last", " ".join(str(part) for part in parts if part) + f", run {last.get('run')}"
    if last.get("reason") and str(last["reason"]) not in why:
        yield "reason", str(last["reason"])


def _handler(act: Json, now: datetime) -> str:
    """The last call of one, and why it failed."""
    took, ago = seconds_text(act["seconds"]), since(act["at"], now)
    if act["outcome"] == "running":
        return f"{act['name']} ({act['place']}) running for {ago}"
    text = f"{act['name']} ({act['place']}) {act['outcome']} {ago} ago after {took}"
    if act["failures"] > 1:
        text += f", failure {act['failures']} in a row"
    return f"{text}: {act['why']}" if act["why"] else text


def _folded(title: str, text: str, screen: Screen) -> list[str]:
    head = f"  {title:<8}"
    if screen.width is None:
        return [head + text]
    folded = textwrap.wrap(
        text, screen.width, initial_indent=head, subsequent_indent=" " * len(head)
    )
    if title == "state":
        state = text.partition(" ")[0]
        return [
            each.replace(state, screen.painted(state, STATE_COLOURS.get(state)), 1)
            for each in folded
        ]
    return folded or [head]


def why_text(cr: Json) -> str:
    """Why the CR is in its state, in one sentence; empty where the state says it all."""
    last: dict[str, Any] = cr.get("last") or {}
    state = cr["state"]
    if cr.get("deleted"):
        return _why_still_there(cr, last)
    if state == "paused":
        return f"paused by {pause_text(cr)}; `rolecall resume {_word(cr)}` ends it"
    if state == "running" or last.get("outcome") == "succeeded":
        return ""
    if last.get("outcome") == "cancelled":
        return _why_stopped(cr, last)
    return failure_text(last)


def _why_still_there(cr: Json, last: Json) -> str:
    """What a deletion waits for."""
    if cr["state"] == "paused":
        return (
            f"being deleted, and paused by {pause_text(cr)}; the finalizer runs after"
            f" `rolecall resume {_word(cr)}`"
        )
    if cr["state"] == "running":
        return "being deleted, and its finalizer runs"
    if last.get("finalizer") and last.get("outcome") in ("failed", "lost"):
        return f"being deleted, waiting for the finalizer run, which failed: {failure_text(last)}"
    return "being deleted, waiting for its finalizers"


def _why_stopped(cr: Json, last: Json) -> str:
    by = f": {last['reason']}" if last.get("reason") else ""
    text = f"the last run was stopped{by}"
    if cr["state"] != "stopped":
        return text
    return (
        f"{text}; the next one begins at the period, after an edit, or with"
        f" `rolecall reconcile {_word(cr)}`"
    )


def failure_text(last: Json) -> str:
    """What failed, with its task, file and line, unless the message names them."""
    reason, task, place = (str(last.get(name) or "") for name in ("reason", "task", "place"))
    if not task or (place and place in reason):
        return reason
    where = f"task `{task}`" + (f" ({place})" if place else "")
    return f"{where} failed: {reason}" if reason else f"{where} failed"


def _word(cr: Json) -> str:
    place = f" -n {cr['namespace']}" if cr["namespace"] else ""
    return f"{cr['kind'].lower()}/{cr['name']}{place}"
