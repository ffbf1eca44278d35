"""Reads a long list out of an answer without stopping the loop.

`json.loads` of one page of big objects holds the interpreter for as long as it takes, in a thread
as much as on the loop. So the answer is taken apart item by item, each decoded by the standard
decoder, and between items the loop gets its turn. Threads, smaller pages and incremental parser
packages were the alternatives: the first does not help, the second costs the server, the third is
slower than this.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rolecall.json_object import Json
from rolecall.kube.answers import UnexpectedAnswerError, check_named
from rolecall.kube.too_deep import TooDeep, end_of_value, past_space

# About 1 ms of decoding, so that it does no harm on a busy machine either.
_BYTES_PER_TURN = 64 * 1024
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Page:
    """One piece of a list."""

    items: list[Json]
    resource_version: str
    next_page: str  # the `continue` token; empty at the end


async def decode_page(body: bytes) -> Page:
    """Decode a list's answer; the items get the kind and apiVersion that lists leave out.

    They lose their `managedFields`, which are of no use here: dozens of small maps an object,
    and the garbage collector would look at all of them again and again while the page is worked on.

    What is no list, or not the whole of one, raises; see `answers`.
    """
    text = body.decode()
    head: Json = {}
    items: list[Json] = []
    has_items = False
    turn_ends = _BYTES_PER_TURN
    for key, value, position in _walk(text):
        if key == "items":
            has_items = True
            if isinstance(value, TooDeep):
                value.report(str(head.get("kind", "")).removesuffix("List"))
            elif value is not None:  # as is an empty list of metadata
                check_named(value, "a list with an item")
                items.append(_lighter(value))
        else:
            head[key] = value
        if position > turn_ends:
            turn_ends = position + _BYTES_PER_TURN
            await asyncio.sleep(0)
    metadata = head.get("metadata")
    if not has_items or not isinstance(metadata, dict):
        raise UnexpectedAnswerError(f"a list without {'metadata' if has_items else 'items'}")
    for item in items:
        if "kind" in head:
            item.setdefault("kind", str(head["kind"]).removesuffix("List"))
        item.setdefault("apiVersion", head.get("apiVersion"))
    return Page(items, metadata.get("resourceVersion") or "", metadata.get("continue") or "")


def _lighter(item: Json) -> Json:
    item["metadata"].pop("managedFields", None)
    return item


def _walk(text: str) -> Iterator[tuple[str, Any, int]]:
    """Yield every top-level value with its key, those of the array `items` one by one.

    An array without any yields one None, so that it is seen to be there.
    """
    at = _expect(text, 0, "{")
    while not _is_at(text, at, "}"):
        key, at = _DECODER.raw_decode(text, _expect(text, at, '"') - 1)
        at = past_space(text, _expect(text, at, ":"))
        if key == "items" and _is_at(text, at, "["):
            at += 1
            if _is_at(text, at, "]"):
                yield key, None, at
            while not _is_at(text, at, "]"):
                value, at = _item(text, past_space(text, at))
                yield key, value, at
                at = _past_comma(text, at)
            at = _expect(text, at, "]")
        else:
            value, at = _DECODER.raw_decode(text, at)
            yield key, value, at
        at = _past_comma(text, at)
    if (end := past_space(text, _expect(text, at, "}"))) < len(text):
        raise json.JSONDecodeError("Extra data", text, end)


def _item(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except RecursionError:
        return TooDeep.of(text, at), end_of_value(text, at)


def _is_at(text: str, at: int, character: str) -> bool:
    at = past_space(text, at)
    return text[at : at + 1] == character


def _expect(text: str, at: int, character: str) -> int:
    at = past_space(text, at)
    if text[at : at + 1] != character:
        raise json.JSONDecodeError(f"Expecting '{character}'", text, at)
    return at + 1


def _past_comma(text: str, at: int) -> int:
    at = past_space(text, at)
    if text[at : at + 1] == ",":
        return at + 1
    if text[at : at + 1] in ("]", "}"):
        return at
    raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
