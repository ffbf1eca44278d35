"""Reads and extends the metadata of an object in Kubernetes' protobuf encoding.

`kubectl create configmap` and every other typed Go client send built-in kinds this way. Refusing it
with 415 was rejected: those clients do not fall back to JSON. Forwarding it and patching the owner in
afterwards was rejected too: an engine that dies in between leaves an object without its owner.

It takes little, because the encoding is made for it: an envelope (`runtime.Unknown`) whose field 2 is
the object, whose field 1 is its `ObjectMeta` in every built-in kind. Fields are copied as bytes, never
understood, so nothing of a newer Kubernetes is lost. Field numbers are part of Kubernetes' stable API.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rolecall.json_object import Json
from rolecall.proxy.owners import Additions

MAGIC = b"k8s\x00"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
# runtime.Unknown, and the kind in its TypeMeta
_TYPE, _RAW, _CONTENT_ENCODING = 1, 2, 3
_KIND = 2
# The object itself
_METADATA = 1
# ObjectMeta
_NAME, _NAMESPACE, _UID, _RESOURCE_VERSION = 1, 3, 5, 6
_ANNOTATIONS, _OWNER_REFERENCES = 12, 13
_METADATA_TEXTS = {
    _NAME: "name",
    _NAMESPACE: "namespace",
    _UID: "uid",
    _RESOURCE_VERSION: "resourceVersion",
}
# OwnerReference
_REFERENCE_FIELDS = {"kind": 1, "name": 3, "uid": 4, "apiVersion": 5}


class UnreadableBodyError(Exception):
    """The body is nothing that the API server would take for an object."""


@dataclass(frozen=True, slots=True)
class _Field:
    number: int
    start: int  # of its tag
    end: int
    content: bytes  # empty where it is a number


class ProtobufBody:
    """An object in an envelope."""

    kind = ""  # discovery says it, by the plural in the path

    def __init__(self, data: bytes) -> None:
        if not data.startswith(MAGIC):
            raise UnreadableBodyError("the body has no protobuf envelope")
        self._envelope = data[len(MAGIC) :]
        raw = None
        for field in _fields(self._envelope):
            if field.number == _RAW:
                raw = field
            elif field.number == _CONTENT_ENCODING and field.content:
                raise UnreadableBodyError("the protobuf body is compressed")
        if raw is None:
            raise UnreadableBodyError("the protobuf envelope is empty")
        self._raw = raw
        self._metadata_field = _last(raw.content, _METADATA)
        self._metadata = self._metadata_field.content if self._metadata_field else b""
        self.metadata: Mapping[str, Any] = _metadata_of(self._metadata)

    def with_additions(self, additions: Additions) -> bytes:
        """The body with owners added."""
        return self._with_metadata(self._metadata + b"".join(_encoded(additions)))

    def without_version(self) -> bytes:
        """The body without the version that must be there."""
        kept = b"".join(
            self._metadata[field.start : field.end]
            for field in _fields(self._metadata)
            if field.number != _RESOURCE_VERSION
        )
        return self._with_metadata(kept)

    def _with_metadata(self, content: bytes) -> bytes:
        encoded = _bytes_field(_METADATA, content)
        raw = _replaced(self._raw.content, self._metadata_field, encoded)
        return MAGIC + _replaced(self._envelope, self._raw, _bytes_field(_RAW, raw))


def object_in_protobuf(data: bytes) -> Json | None:
    """Kind and metadata of one object; None where the body is a list, a status, or unreadable."""
    try:
        body = ProtobufBody(data)
        about = _last(data[len(MAGIC) :], _TYPE)
        said = _last(about.content, _KIND) if about else None
    except UnreadableBodyError:
        return None
    kind = _text(said.content) if said else ""
    if not kind or kind.endswith(("List", "Status", "Table")):
        return None
    return {"kind": kind, "metadata": dict(body.metadata)}


def _metadata_of(content: bytes) -> dict[str, Any]:
    metadata: dict[str, Any] = {"annotations": {}}
    for field in _fields(content):
        if field.number in _METADATA_TEXTS:
            metadata[_METADATA_TEXTS[field.number]] = _text(field.content)
        elif field.number == _OWNER_REFERENCES:
            texts = {part.number: _text(part.content) for part in _fields(field.content)}
            reference = {name: texts.get(at, "") for name, at in _REFERENCE_FIELDS.items()}
            metadata.setdefault("ownerReferences", []).append(reference)
        elif field.number == _ANNOTATIONS:
            pair = {part.number: _text(part.content) for part in _fields(field.content)}
            metadata["annotations"][pair.get(1, "")] = pair.get(2, "")
    return metadata


def _encoded(additions: Additions) -> Iterator[bytes]:
    for reference in additions.references:
        content = b"".join(
            _bytes_field(at, reference[name].encode()) for name, at in _REFERENCE_FIELDS.items()
        )
        yield _bytes_field(_OWNER_REFERENCES, content)
    for key, text in additions.annotations.items():
        # A later entry of a map replaces an earlier one of the same key.
        pair = _bytes_field(1, key.encode()) + _bytes_field(2, text.encode())
        yield _bytes_field(_ANNOTATIONS, pair)


def _fields(data: bytes) -> Iterator[_Field]:
    at = 0
    while at < len(data):
        start = at
        tag, at = _varint(data, at)
        number, wire_type = tag >> 3, tag & 7
        content = b""
        if wire_type == _VARINT:
            _, at = _varint(data, at)
        elif wire_type in (_FIXED64, _FIXED32):
            at += 8 if wire_type == _FIXED64 else 4
        elif wire_type == _BYTES:
            size, at = _varint(data, at)
            content = data[at : at + size]
            at += size
        else:
            raise UnreadableBodyError("the protobuf body has a field of unknown type")
        if at > len(data):
            raise UnreadableBodyError("the protobuf body is cut short")
        yield _Field(number, start, at, content)


def _last(data: bytes, number: int) -> _Field | None:
    found = None
    for field in _fields(data):
        if field.number == number:
            found = field
    return found


def _replaced(data: bytes, field: _Field | None, encoded: bytes) -> bytes:
    if field is None:
        return encoded + data
    return data[: field.start] + encoded + data[field.end :]


def _bytes_field(number: int, content: bytes) -> bytes:
    return _as_varint(number << 3 | _BYTES) + _as_varint(len(content)) + content


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise UnreadableBodyError("the protobuf body has a broken number")


def _as_varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _text(content: bytes) -> str:
    return content.decode("utf-8", errors="replace")
