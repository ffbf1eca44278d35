"""The owner gets into an object's protobuf encoding, and every other byte stays."""

from __future__ import annotations

import pytest

from rolecall.proxy.owners import Additions
from rolecall.proxy.protobuf import ProtobufBody, UnreadableBodyError
from tests.unit.proxy.crs import owner

BOTH = Additions(references=(owner().reference(),), annotations={"a/owner": "prod/shop"})


def field(number: int, content: bytes | str) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    size = bytearray()
    rest = len(data)
    while rest > 0x7F:
        size.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([number << 3 | 2]) + bytes([*size, rest]) + data


REFERENCE = field(1, "Pod") + field(3, "p") + field(4, "uid-1") + field(5, "v1")
ANNOTATION = field(1, "key") + field(2, "text")
METADATA = (
    field(1, "made")
    + field(3, "prod")
    + field(5, "uid-0")
    + field(6, "42")
    + b"\x38\x05"  # generation: 5
    + field(12, ANNOTATION)
    + field(13, REFERENCE)
)
DATA = field(2, field(1, "long") + field(2, "x" * 1000))
# fixed64 and fixed32 fields, as a newer server may send
UNKNOWN = b"\x79" + b"12345678" + b"\x7d" + b"1234"


def envelope(raw: bytes, extra: bytes = b"") -> bytes:
    type_meta = field(1, field(1, "v1") + field(2, "ConfigMap"))
    return b"k8s\x00" + type_meta + field(2, raw) + extra + field(4, "x")


def test_metadata_is_read() -> None:
    metadata = ProtobufBody(envelope(field(1, METADATA) + DATA)).metadata
    assert metadata == {
        "namespace": "prod",
        "uid": "uid-0",
        "resourceVersion": "42",
        "annotations": {"key": "text"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-1"}],
    }


def test_owner_is_added_and_all_else_stays() -> None:
    body = ProtobufBody(envelope(field(1, METADATA) + DATA + UNKNOWN))
    encoded = body.with_additions(BOTH)
    after = ProtobufBody(encoded).metadata
    assert after["ownerReferences"] == [*body.metadata["ownerReferences"], owner().reference()]
    assert after["annotations"] == {"key": "text", "a/owner": "prod/shop"}
    assert DATA + UNKNOWN in encoded
    assert METADATA in encoded


def test_object_without_metadata_gets_some() -> None:
    encoded = ProtobufBody(envelope(DATA)).with_additions(BOTH)
    assert ProtobufBody(encoded).metadata["annotations"] == {"a/owner": "prod/shop"}
    assert DATA in encoded


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"k8s\x00",
        envelope(b"", field(3, "gzip")),
        envelope(field(1, METADATA))[:-60],
        envelope(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        envelope(b"\x0b"),
        envelope(b"\x08"),
    ],
)
def test_broken_bodies_are_for_the_api_server(data: bytes) -> None:
    with pytest.raises(UnreadableBodyError):
        ProtobufBody(data)


def test_version_is_taken_out_and_all_else_stays() -> None:
    data = envelope(field(1, METADATA) + DATA + UNKNOWN)
    freed = ProtobufBody(data).without_version()
    whole = field(6, "42")
    assert whole in data
    assert freed == envelope(field(1, METADATA.replace(whole, b"")) + DATA + UNKNOWN)


def test_object_without_metadata_names_no_version() -> None:
    freed = ProtobufBody(envelope(DATA)).without_version()
    assert ProtobufBody(freed).metadata == {"annotations": {}}
