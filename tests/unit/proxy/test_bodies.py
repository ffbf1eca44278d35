"""Owners get into bodies of every format, and nothing else in them changes."""

from __future__ import annotations

import json

import pytest
import yaml

from rolecall.json_object import Json
from rolecall.proxy.bodies import APPLY, JSON, PROTOBUF, YAML, parse_body
from rolecall.proxy.owners import Additions
from rolecall.proxy.protobuf import UnreadableBodyError
from tests.unit.proxy.crs import owner

BOTH = Additions(references=(owner().reference(),), annotations={"a/owner": "prod/shop"})


def stamped(text: str, media_type: str = JSON) -> Json:
    found: Json = yaml.safe_load(parse_body(media_type, text.encode()).with_additions(BOTH))
    return found


@pytest.mark.parametrize("metadata", ["", '"metadata":null,', '"metadata":{},'])
def test_missing_metadata_is_made(metadata: str) -> None:
    body = stamped(f'{{{metadata}"kind":"X"}}')
    assert body["metadata"] == {
        "ownerReferences": [owner().reference()],
        "annotations": {"a/owner": "prod/shop"},
    }


def test_json_values_survive() -> None:
    values = {"a": 1.5, "b": 2**63 - 1, "c": "\ud800ü\u0000", "d": [None, True, {}], "e": 1e300}
    before = {"spec": values, "metadata": {"annotations": {"x": "y", "a/owner": "old"}}}
    encoded = parse_body(JSON, json.dumps(before).encode()).with_additions(BOTH)
    after = json.loads(encoded)
    assert after["spec"] == values
    assert after["metadata"]["annotations"] == {"x": "y", "a/owner": "prod/shop"}


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        "{",
        '{"metadata":"x"}',
        '{"metadata":{"ownerReferences":{"a":1}}}',
        '{"metadata":{"ownerReferences":["x"]}}',
        '{"metadata":{"annotations":["x"]}}',
        "[" * 100_000,
        '{"a":' + "9" * 5000 + "}",
    ],
)
@pytest.mark.parametrize("media_type", [JSON, PROTOBUF])
def test_what_is_no_object_is_for_the_api_server(media_type: str, body: str) -> None:
    with pytest.raises(UnreadableBodyError):
        parse_body(media_type, body.encode())


MANIFEST = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: made
  ownerReferences:
  - {apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}
  annotations: {a/owner: old, on: 'yes'}
data: &data
  date: 2026-11-21
  port: 22:22
  octal: 0777
  yes: no
  text: |
    a: b
again: *data
"""


@pytest.mark.parametrize("media_type", [APPLY, YAML])
def test_yaml_keeps_the_text_of_every_scalar(media_type: str) -> None:
    body = parse_body(media_type, MANIFEST.encode())
    assert body.kind == "ConfigMap"
    encoded = body.with_additions(BOTH)
    before = yaml.load(MANIFEST, yaml.BaseLoader)  # texts only
    after = yaml.load(encoded, yaml.BaseLoader)
    assert after["data"] == after["again"] == before["data"]
    assert after["metadata"]["annotations"] == {"on": "yes", "a/owner": "prod/shop"}
    references = yaml.safe_load(encoded)["metadata"]["ownerReferences"]
    assert references[0]["controller"] is True
    assert references[1] == owner().reference()


def test_apply_may_send_json_and_gets_json_back() -> None:
    body = parse_body(APPLY, b'{"kind":"X"}').with_additions(BOTH)
    assert json.loads(body)["kind"] == "X"


@pytest.mark.parametrize("body", ["a: [", "- a", "x", "a: 1\n---\nb: 2\n", "metadata: [1]\n"])
def test_yaml_that_is_no_object_is_for_the_api_server(body: str) -> None:
    with pytest.raises(UnreadableBodyError):
        parse_body(APPLY, body.encode())


def test_bomb_of_aliases_stays_small() -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    encoded = parse_body(APPLY, "\n".join(lines).encode()).with_additions(BOTH)
    assert len(encoded) < 10_000


@pytest.mark.parametrize(
    "text",
    [
        "x: &m {name: a, labels: {k: v}}\nmetadata:\n  <<: *m\n  name: b\n",
        "x: &m {metadata: {name: b, labels: {k: v}}}\n<<: *m\n",
        "x: &m {metadata: {name: b, labels: {k: v}}}\ny: &n {metadata: {}}\n<<: [*m, *n]\n",
        "metadata:\n  name: b\n  labels: {k: v}\n  annotations: {<<: {note: kept}}\n",
    ],
)
def test_what_yaml_merges_into_metadata_is_there_beside_the_owner(text: str) -> None:
    made: Json = yaml.safe_load(parse_body(YAML, text.encode()).with_additions(BOTH))
    before: Json = yaml.safe_load(text)["metadata"]
    after = made["metadata"]
    assert (after["name"], after["labels"]) == (before["name"], before["labels"])
    assert after["annotations"].items() >= before.get("annotations", {}).items()
    assert after["ownerReferences"] == [*BOTH.references]


def test_map_that_is_merged_into_itself_hangs_nothing() -> None:
    made = parse_body(YAML, b"metadata: &m\n  <<: *m\n  name: a\n").with_additions(BOTH)
    assert yaml.safe_load(made)["metadata"]["name"] == "a"
