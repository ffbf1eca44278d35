"""Texts of others, kept from filling an object or from breaking a line."""

from __future__ import annotations


def bounded(text: str, limit: int) -> str:
    """At most so many characters, and none that JSON cannot carry: a lone surrogate."""
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def one_line(text: str, limit: int) -> str:
    return bounded(" ".join(text.split()), limit)
