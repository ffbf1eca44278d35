"""Paths of fields: the same words for what was sent and for what became of it."""

from __future__ import annotations

import json

import pytest

from rolecall.record import leaves_of_object, leaves_of_write
from rolecall.record.leaves import MOST_LEAVES

_DEPLOYMENT = {
    "metadata": {"name": "web", "annotations": {"example.com/why": "x"}},
    "spec": {
        "replicas": 2,
        "template": {"spec": {"containers": [{"name": "app", "image": "a"}, {"name": "log"}]}},
        "args": ["a", "b"],
        "empty": {},
        "none": None,
    },
}


def test_each_field_has_one_path() -> None:
    assert leaves_of_object(_DEPLOYMENT) == (
        ".metadata.name",
        '.metadata.annotations["example.com/why"]',
        ".spec.replicas",
        '.spec.template.spec.containers[name="app"].name',
        '.spec.template.spec.containers[name="app"].image',
        '.spec.template.spec.containers[name="log"].name',
        ".spec.args[0]",
        ".spec.args[1]",
        ".spec.empty",
        ".spec.none",
    )


def test_elements_of_one_name_are_reported_by_their_place() -> None:
    ports = [{"name": "http", "port": 80}, {"name": "http", "port": 81}]
    assert leaves_of_object({"ports": ports})[1] == ".ports[0].port"


def test_value_that_is_no_name_is_never_part_of_a_path() -> None:
    secret = "s3cr3t with spaces\nand lines"
    assert secret not in "".join(leaves_of_object({"env": [{"name": secret, "value": "x"}]}))


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("application/merge-patch+json", b'{"spec": {"replicas": 1}}'),
        ("application/strategic-merge-patch+json", b'{"spec": {"replicas": 1}}'),
        ("application/apply-patch+yaml", b"spec:\n  replicas: 1\n"),
        (
            "application/json-patch+json",
            b'[{"op": "add", "path": "/spec", "value": {"replicas": 1}}]',
        ),
        ("application/json", b'{"spec": {"replicas": 1}}'),
    ],
)
def test_each_kind_of_body_says_its_fields(media_type: str, body: bytes) -> None:
    assert leaves_of_write(media_type, body) == (".spec.replicas",)


def test_json_patch_unescapes_its_pointers() -> None:
    patch = [
        {"op": "test", "path": "/spec/a", "value": 1},
        {"op": "remove", "path": "/metadata/labels/example.com~1why"},
        {"op": "replace", "path": "/spec/containers/0/image", "value": "b"},
    ]
    assert leaves_of_write("application/json-patch+json", json.dumps(patch).encode()) == (
        '.metadata.labels["example.com/why"]',
        ".spec.containers[0].image",
    )


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"[" * 100_000, b"a: [", b'"text"', b"3"])
def test_body_that_cannot_be_read_has_no_fields(body: bytes) -> None:
    for media_type in ("application/json", "application/apply-patch+yaml", "x/y"):
        assert leaves_of_write(media_type, body) == ()


def test_fields_beyond_the_most_are_left_out() -> None:
    assert len(leaves_of_object({f"k{number}": 1 for number in range(5000)})) == MOST_LEAVES
