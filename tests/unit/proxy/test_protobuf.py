"""The owner gets into an object's protobuf encoding, and every other byte stays."""

from __future__ import annotations

import pytest

from rolecall.proxy.owners import Additions
from rolecall.proxy.protobuf import ProtobufBody, UnreadableBodyError, object_in_protobuf
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


def test_object_is_read_with_its_kind_and_nothing_else_is() -> None:
    data = envelope(field(1, METADATA) + DATA)
    read = object_in_protobuf(data)
    assert read is not None
    assert (read["kind"], read["metadata"]["uid"]) == ("ConfigMap", "uid-0")
    listed = data.replace(field(1, field(1, "v1") + field(2, "ConfigMap")), b"")
    for other in (
        listed,
        data[:20],
        b"",
        b"k8s\x00",
        b"{}",
        data.replace(b"ConfigMap", b"A.B.CList"),
    ):
        assert object_in_protobuf(other) is None


def test_metadata_is_read() -> None:
    metadata = ProtobufBody(envelope(field(1, METADATA) + DATA)).metadata
    assert metadata == {
        "name": "made",
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


@pytest.mark.parametrize(
    "unknown",
    [b"\x79" + b"12345678", b"\x7d" + b"1234", b"\x78\xff\x01", b"\xfa\x01\x02xy"],
    ids=["fixed64", "fixed32", "varint", "bytes of a field beyond 15"],
)
def test_field_of_any_type_is_as_long_as_it_says(unknown: bytes) -> None:
    metadata = unknown + field(5, "uid-9") + unknown + field(6, "8")
    body = ProtobufBody(envelope(unknown + field(1, metadata) + unknown + DATA))
    assert body.metadata == {"uid": "uid-9", "resourceVersion": "8", "annotations": {}}
    freed = body.without_version()
    assert freed == envelope(
        unknown + field(1, unknown + field(5, "uid-9") + unknown) + unknown + DATA
    )


@pytest.mark.parametrize("size", [0, 1, 127, 128, 129, 255, 256, 16_383, 16_384, 2_097_152])
def test_text_of_any_length_is_read_and_written(size: int) -> None:
    text = "x" * size
    data = envelope(field(1, field(5, text)) + DATA)
    assert ProtobufBody(data).metadata["uid"] == text
    added = Additions(annotations={"k": text})
    pair = field(12, field(1, "k") + field(2, text))
    expected = envelope(field(1, field(5, text) + pair) + DATA)
    assert ProtobufBody(data).with_additions(added) == expected


def test_what_is_left_out_of_a_map_or_a_reference_is_empty() -> None:
    metadata = field(12, field(2, "text")) + field(12, field(1, "key")) + field(13, field(4, "u"))
    assert ProtobufBody(envelope(field(1, metadata))).metadata == {
        "annotations": {"": "text", "key": ""},
        "ownerReferences": [{"apiVersion": "", "kind": "", "name": "", "uid": "u"}],
    }


def test_last_of_several_counts_and_text_that_is_no_text_is_replaced() -> None:
    raw = field(1, field(5, "old")) + field(1, field(5, b"\xff"))
    assert ProtobufBody(envelope(raw)).metadata["uid"] == "\ufffd"
    twice = b"k8s\x00" + field(2, field(1, field(5, "old"))) + field(2, raw)
    assert ProtobufBody(twice).metadata["uid"] == "\ufffd"


def test_reference_and_annotation_are_written_as_the_api_server_writes_them() -> None:
    names = (
        field(1, "App"),
        field(3, "shop"),
        field(4, owner().uid),
        field(5, "demo.example.com/v1"),
    )
    metadata = field(13, b"".join(names)) + field(12, field(1, "a/owner") + field(2, "prod/shop"))
    expected = envelope(field(1, METADATA + metadata) + DATA)
    assert ProtobufBody(envelope(field(1, METADATA) + DATA)).with_additions(BOTH) == expected
    made = envelope(field(1, metadata) + DATA)
    assert ProtobufBody(envelope(DATA)).with_additions(BOTH) == made


@pytest.mark.parametrize(
    "data",
    [
        b"k8s\x00" + field(1, "x"),
        b"K8s\x00" + field(2, b""),
        envelope(b"\x0c"),
        envelope(b"\x79" + b"1234567"),
        envelope(b"\x7d" + b"123"),
        envelope(field(1, "xy")[:-1]),
        envelope(b"\x08" + b"\xff" * 10 + b"\x01"),
        envelope(field(1, field(13, b"\x0b"))),
    ],
    ids=[
        "no object",
        "another magic",
        "a group",
        "fixed64",
        "fixed32",
        "bytes",
        "a number without end",
        "a reference",
    ],
)
def test_what_is_cut_short_or_unknown_is_for_the_api_server(data: bytes) -> None:
    with pytest.raises(UnreadableBodyError):
        ProtobufBody(data)


def test_ten_bytes_are_the_longest_number() -> None:
    longest = b"\x38" + b"\xff" * 9 + b"\x01"
    assert ProtobufBody(envelope(field(1, longest + field(5, "u")))).metadata["uid"] == "u"


def test_encoding_that_is_named_empty_is_none() -> None:
    body = ProtobufBody(envelope(field(1, METADATA), field(3, "")))
    assert body.metadata["uid"] == "uid-0"
    assert body.kind == ""


def test_number_where_a_text_should_be_is_no_text() -> None:
    assert ProtobufBody(envelope(field(1, b"\x28\x05"))).metadata["uid"] == ""
    assert ProtobufBody(envelope(field(1, METADATA), b"\x18\x01")).metadata["uid"] == "uid-0"
