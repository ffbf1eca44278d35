"""What the page of a catalog shows of an operator: what it would miss, and what OLM could not read."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from rolecall.json_object import Json
from rolecall_dev.sources import misfits

_TEXT: Json = {"type": "string"}
_SHOWN = ("displayName", "description", "icon", "maintainers", "provider", "keywords")


def _rows(*fields: str) -> Json:
    properties = {name: _TEXT for name in fields}
    return {
        "type": "array",
        "items": {"type": "object", "required": list(fields), "properties": properties},
    }


_SCHEMAS: dict[str, Json] = {
    "displayName": _TEXT,
    "description": _TEXT,
    "maturity": _TEXT,
    "keywords": {"type": "array", "items": _TEXT},
    "links": _rows("name", "url"),
    "maintainers": _rows("name", "email"),
    "icon": _rows("base64data", "mediatype"),
    "provider": {
        "type": "object",
        "required": ["name"],
        "properties": {"name": _TEXT, "url": _TEXT},
    },
    "skips": {"type": "array", "items": _TEXT},
}


def look_faults(spec: Json) -> Iterator[str]:
    """Fields of the CSV's spec that are empty (a warning), or that are not what OLM takes."""
    for key in _SHOWN:
        if not spec.get(key):
            yield f"warning: `{key}` is empty; config/manifests/bases is the place for it"
    for key, schema in _SCHEMAS.items():
        if not spec.get(key):
            continue
        faults = [str(misfit) for misfit in misfits(spec[key], schema, ("spec", key))]
        yield from faults
        if key == "icon" and not faults:
            yield from _icon_faults(spec[key])


def _icon_faults(icons: list[Json]) -> Iterator[str]:
    for number, icon in enumerate(icons):
        try:
            base64.b64decode("".join(icon["base64data"].split()), validate=True)
        except binascii.Error as error:
            yield f"spec.icon[{number}].base64data is not base64: {error}"
