"""JSON of files: what it says, and that threads work while a long one is read."""

from __future__ import annotations

import json
import sys
from types import FrameType

import pytest

from rolecall.json_object import from_json

LONG = {"items": [{"name": f"pod-{number}", "ready": number % 2 == 0} for number in range(9000)]}


def test_long_and_short_say_the_same() -> None:
    for value in ({"a": [1, None, "ü"]}, LONG):
        assert from_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize("length", [1, 300_000])
def test_what_is_cut_off_is_an_error(length: int) -> None:
    with pytest.raises(ValueError, match="Unterminated string"):
        from_json(b'{"a": "' + b"x" * length)


def test_interpreter_is_free_after_each_value_of_a_long_file() -> None:
    """It changes threads where Python code is called, and nowhere in a decoder that is none."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    data = json.dumps(LONG).encode()
    sys.setprofile(count)
    try:
        from_json(data)
    finally:
        sys.setprofile(None)
    assert calls >= len(LONG["items"])
