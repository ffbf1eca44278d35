"""Selectors of fields: the little that is sure of them."""

from __future__ import annotations


def names_of_fields(selector: str) -> dict[str, str] | None:
    """The name and namespace that a field selector asks for; None where it asks for more."""
    wanted: dict[str, str] = {}
    for term in filter(None, (part.strip() for part in selector.split(","))):
        field, separator, value = term.replace("==", "=").partition("=")
        is_known = field in ("metadata.name", "metadata.namespace")
        if not separator or field.endswith("!") or not is_known:
            return None
        wanted[field.removeprefix("metadata.")] = value
    return wanted
