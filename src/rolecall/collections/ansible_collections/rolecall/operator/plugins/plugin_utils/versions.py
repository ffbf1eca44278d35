"""Versions of programs, as lists of numbers."""

from __future__ import annotations

from typing import Any


def version_sort(versions: Any) -> list[str]:
    """Each once, the lowest first; what is empty is left out."""
    return sorted({str(version) for version in versions if version}, key=_numbers)


def _numbers(version: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in version.removeprefix("v").split("."))
    except ValueError as error:
        raise ValueError(f"`{version}` must be numbers with dots between them") from error
