"""A file-based catalog as it is on disk: its documents, or everything that is wrong with them.

People edit this file, too: they give the package an icon, or deprecate a channel. So each fault is told
with its line and its field, and what is not known here is kept as it is.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from rolecall.errors import InputError, Problem, ProblemsError
from rolecall.json_object import Json
from rolecall_dev.bundle.version import is_version
from rolecall_dev.sources import misfits

_TEXT: Json = {"type": "string", "minLength": 1}
_ANY_MORE = {"x-kubernetes-preserve-unknown-fields": True}


def _object(required: str, **properties: Json) -> Json:
    return {
        "type": "object",
        "required": required.split(),
        "properties": properties,
        **_ANY_MORE,
    }


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


_SCHEMAS: dict[str, Json] = {
    "olm.package": _object(
        "name",
        name=_TEXT,
        description={"type": "string"},
        icon=_object("base64data mediatype", base64data=_TEXT, mediatype=_TEXT),
    ),
    "olm.channel": _object(
        "name package entries",
        name=_TEXT,
        package=_TEXT,
        entries=_list(
            _object(
                "name", name=_TEXT, replaces=_TEXT, skips=_list(_TEXT), skipRange={"type": "string"}
            )
        ),
    ),
    "olm.bundle": _object("name package image", name=_TEXT, package=_TEXT, image=_TEXT),
    "olm.deprecations": _object(
        "package entries",
        package=_TEXT,
        entries=_list(
            _object("reference message", reference=_object("schema", schema=_TEXT), message=_TEXT)
        ),
    ),
}


@dataclass(slots=True)
class Catalog:
    """The documents, by what they are; `others` are kept as they are."""

    file: str
    package: Json = field(default_factory=dict)
    channels: dict[str, Json] = field(default_factory=dict)
    bundles: dict[str, Json] = field(default_factory=dict)
    others: list[Json] = field(default_factory=list)


def read_catalog(text: str, package: str, file: str) -> Catalog:
    """The catalog of a package; `ProblemsError` with all faults of the file."""
    found = Catalog(file)
    problems: list[Problem] = []
    for line, document in _documents(text, file):
        faults = list(_faults(document, package))
        problems += [Problem(file, line, what) for what in faults]
        if not faults:
            _sort_in(document, found)
    if problems:
        raise ProblemsError(problems)
    return found


def _documents(text: str, file: str) -> Iterator[tuple[int, Json]]:
    loader = yaml.SafeLoader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            document = None if node is None else loader.construct_document(node)
            if node is not None and document is not None:
                yield node.start_mark.line + 1, document
    except yaml.YAMLError as error:
        raise InputError(f"{file} is not valid YAML: {error}") from error
    finally:
        loader.dispose()


def _faults(document: Json, package: str) -> Iterator[str]:
    if not isinstance(document, dict) or not isinstance(document.get("schema"), str):
        yield "has no `schema`, such as `olm.channel`, so OLM would not read this catalog"
        return
    schema = document["schema"]
    known = _SCHEMAS.get(schema, _object(""))
    yield from (str(misfit) for misfit in misfits(document, known, (schema,)))
    owner = document.get("name" if schema == "olm.package" else "package")
    if isinstance(owner, str) and owner != package:
        yield f"{schema} is of package `{owner}`, but this is the catalog of `{package}`"
    if schema == "olm.package":
        yield from _icon_faults(document.get("icon"))
    names = [document.get("name")] if schema == "olm.bundle" else []
    if schema == "olm.channel" and isinstance(document.get("entries"), list):
        names = [row.get("name") for row in document["entries"] if isinstance(row, dict)]
    for name in names:
        if isinstance(name, str) and not is_version(version_in(name)):
            yield f"{schema}: name `{name}` does not end with `.v` and a semantic version"


def _icon_faults(icon: object) -> Iterator[str]:
    if isinstance(icon, dict) and isinstance(icon.get("base64data"), str):
        try:
            base64.b64decode("".join(icon["base64data"].split()), validate=True)
        except binascii.Error as error:
            yield f"olm.package.icon.base64data is not base64: {error}"


def _sort_in(document: Json, found: Catalog) -> None:
    schema = document["schema"]
    if schema == "olm.package":
        found.package = document
    elif schema == "olm.channel":
        found.channels[document["name"]] = document
    elif schema == "olm.bundle":
        found.bundles[document["name"]] = document
    else:
        found.others.append(document)


def version_in(name: str) -> str:
    """`rolecall.v1.2.3`: the version."""
    return name.partition(".v")[2]
