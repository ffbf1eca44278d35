"""JSON as Go writes it, letter by letter."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rolecall.kube.go_json import go_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, True, None, 1.5]}, '{"a":[1,true,null,1.5]}'),
        ('it\'s "said" \\ /', '"it\'s \\"said\\" \\\\ /"'),
        ("ü 😀 \x7f", '"ü 😀 \x7f"'),
        ("a<b>c&d", '"a\\u003cb\\u003ec\\u0026d"'),
        ("\u2028\u2029", '"\\u2028\\u2029"'),
        ("\n\t\x01", '"\\n\\t\\u0001"'),
        ("half \ud83d a pair", '"half \ufffd a pair"'),
    ],
)
def test_text_is_spelled_as_go_does(value: Any, text: str) -> None:
    assert go_json(value).decode() == text


def test_meaning_stays() -> None:
    value = {"<key>&\u2028": ["ü", {"\n": "</script>"}]}
    assert json.loads(go_json(value)) == value
