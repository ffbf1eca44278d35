"""Writes JSON exactly as the API server does.

Where a JSON patch tests a value, the server compares how both sides are spelled, and to it a letter
and its escape are two things. So we spell as Go does: all letters as they are, but for those that
could end a script in a web page.
"""

from __future__ import annotations

import json
from typing import Any

_ESCAPED = "<>&\u2028\u2029"


def go_json(value: Any) -> bytes:
    """JSON without blanks; half a pair of surrogates becomes what Go makes of it, a question mark."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for letter in _ESCAPED:  # `translate` takes two hundred times as long
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    try:
        return text.encode()
    except UnicodeEncodeError:
        pairs = text.encode("utf-16-le", "surrogatepass")
        return pairs.decode("utf-16-le", "replace").encode()
