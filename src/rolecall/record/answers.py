"""What an answer of the API server shows: which objects, at which versions, and whether they are ours.

Read are an object, a list, a table and metadata alone, all as JSON, and the metadata of an object in
protobuf, which `kubectl create` asks for. Of anything else, and of an answer
that is longer than `MOST_BYTES`, it is said why it was not read: a decision by what a run saw must
not take "nothing was seen" for "nothing was there".

Rejected: searching the text for `"resourceVersion"` without parsing. An annotation may hold any text
(kubectl writes whole objects there), and a list would have as many as it has items.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rolecall.json_object import Json, as_map

# Parsing a megabyte takes some milliseconds, in which the proxy answers no request.
MOST_BYTES = 1024 * 1024
_NAMED_ITEMS = 20
_JSON = "application/json"
_DIGEST_LENGTH = 24

_PROTOBUF = "application/vnd.kubernetes.protobuf"

# Reads an object in protobuf as far as its metadata; None where it is a list, or unreadable.
ReadProtobuf = Callable[[bytes], Json | None]
# Whether an object with such metadata belongs to the CR of the run.
IsOwned = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class SeenAnswer:
    object_version: str = ""
    uid: str = ""
    is_owned: bool = False
    name: str = ""  # of the object: a create with `generateName` learns it here
    items: int | None = None
    items_digest: str = ""
    named_items: tuple[str, ...] = ()
    unread: str = ""


def seen_in(
    media_type: str, body: bytes, is_owned: IsOwned, read_protobuf: ReadProtobuf | None = None
) -> SeenAnswer:
    """Read the answer to a request that went well."""
    document = _document_in(media_type, body, read_protobuf)
    if isinstance(document, str):
        return SeenAnswer(unread=document)
    metadata, is_table = as_map(document.get("metadata")), document.get("kind") == "Table"
    rows = document.get("rows" if is_table else "items")
    is_list = str(document.get("kind", "")).endswith("List")
    if rows is None and is_list:  # an empty list of metadata alone
        rows = []
    if isinstance(rows, list) and (is_table or is_list):
        objects = [as_map(row).get("object") if is_table else row for row in rows]
        return _seen_list(
            metadata, [as_map(as_map(each).get("metadata")) for each in objects], is_owned
        )
    return SeenAnswer(
        object_version=_text(metadata.get("resourceVersion")),
        uid=_text(metadata.get("uid")),
        is_owned=is_owned(metadata),
        name=_text(metadata.get("name")),
    )


def _document_in(
    media_type: str, body: bytes, read_protobuf: ReadProtobuf | None
) -> dict[str, Any] | str:
    """The answer as it was parsed, or why it cannot be."""
    if len(body) > MOST_BYTES:
        return f"its answer has more than {MOST_BYTES // 1024} KB"
    if media_type == _PROTOBUF and read_protobuf and (found := read_protobuf(body)) is not None:
        return found
    if media_type != _JSON:
        return f"its answer is `{media_type}`"
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return "its answer is not JSON"
    return document if isinstance(document, dict) else "its answer is not an object"


def digest_of_items(items: Iterable[str]) -> str:
    """Of `namespace/name@version` of each, in whatever order they came."""
    text = "\n".join(sorted(items)).encode()
    return hashlib.sha256(text).hexdigest()[:_DIGEST_LENGTH]


def item_text(metadata: Mapping[str, Any]) -> str:
    namespace, name = _text(metadata.get("namespace")), _text(metadata.get("name"))
    return f"{namespace}/{name}@{_text(metadata.get('resourceVersion'))}"


def _seen_list(
    metadata: Mapping[str, Any], items: list[Mapping[str, Any]], is_owned: IsOwned
) -> SeenAnswer:
    texts = [item_text(each) for each in items]
    if metadata.get("continue"):
        return SeenAnswer(items=len(texts), unread="it was read in several parts")
    if not all(each.get("resourceVersion") for each in items):
        return SeenAnswer(items=len(texts), unread="its items have no versions")
    only = items[0] if len(items) == 1 else {}  # a table of one object stands for that
    return SeenAnswer(
        object_version=_text(metadata.get("resourceVersion")),
        uid=_text(only.get("uid")),
        is_owned=bool(only) and is_owned(only),
        items=len(texts),
        items_digest=digest_of_items(texts),
        named_items=tuple(texts[:_NAMED_ITEMS]),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
