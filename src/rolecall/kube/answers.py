"""Reads an answer's bytes, and says so where they cannot be what was asked for.

A gateway, a login page or a server that is going down may answer 200 with anything. None of that is
an object: taken for one, it would be judged, owned, or break the engine at some later place. So each
answer is held against the little that every answer of its kind has, before its caller gets it.

Everything raised here is a `ValueError` or a `RecursionError` (JSON that is nested without end); the
transport knows where the answer came from, and turns both into `UnavailableError`.
"""

from __future__ import annotations

import json
from typing import Any

from rolecall.json_object import Json

UNREADABLE = (ValueError, RecursionError)


class UnexpectedAnswerError(ValueError):
    """JSON, and not what was asked for; the text says what it is instead."""


def read_object(body: bytes) -> Json:
    """Whatever is an object in the sense of JSON: a discovery document, a review, a `Status`."""
    document = json.loads(body)
    if not isinstance(document, dict):
        raise UnexpectedAnswerError("JSON that is not an object")
    return document


def read_named(body: bytes) -> Json:
    """An object of Kubernetes: it has metadata, and a name in it."""
    document = read_object(body)
    check_named(document, "an object")
    return document


def check_named(document: Any, what: str) -> None:
    """Raise unless this is an object of Kubernetes, which may be read as one."""
    metadata = document.get("metadata") if isinstance(document, dict) else None
    if not isinstance(metadata, dict):
        raise UnexpectedAnswerError(f"{what} without metadata")
    if not isinstance(metadata.get("name"), str):
        raise UnexpectedAnswerError(f"{what} without a name")
