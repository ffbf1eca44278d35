"""Bodies of creates and applies: the owner is written into them, and all else stays what it was."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from rolecall.proxy.bodies import APPLY, JSON, PROTOBUF, YAML, parse_body
from rolecall.proxy.owners import Additions
from rolecall.proxy.protobuf import MAGIC, UnreadableBodyError
from tests.unit.hostile.dice import Dice
from tests.unit.hostile.entry_point import Check, EntryPoint, must

_REFERENCE = {"apiVersion": "v1", "kind": "App", "name": "shop", "uid": "uid-of-the-owner"}
_ANNOTATIONS = {
    "operator-sdk/primary-resource": "a/b",
    "operator-sdk/primary-resource-type": "App.x",
}
_ADDITIONS = Additions(references=(_REFERENCE,), annotations=_ANNOTATIONS)
_OBJECT = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
        "name": "made",
        "labels": {"a": "b"},
        "annotations": {"x": "y"},
        "ownerReferences": [{"uid": "u", "kind": "K", "name": "n", "apiVersion": "v1"}],
    },
    "data": {"a": "1"},
}
_ODD_YAML = (
    "metadata: &a [*a]\n",
    "a: &a {x: *a}\nmetadata: *a\n",
    "metadata:\n  name: a\nmetadata:\n  name: b\nkind: X\n",
    "? [metadata]\n: x\nmetadata: {}\n",
    "metadata: !!set {a, b}\n",
    "when: 2026-11-21\ntime: 22:22\nmetadata: {name: 0o7}\nx: !custom y\n",
    "metadata: {annotations: {a: !!null '', b: ~}}\n",
    "l0: &l0 [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"l{n}: &l{n} [{','.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 12))
    + "metadata: {annotations: {a: *l11}}\n",
)


def _make(dice: Dice) -> dict[str, Any]:
    media_type = dice.pick((JSON, APPLY, YAML, PROTOBUF))
    if media_type == PROTOBUF:
        return {"type": media_type, "data": _protobuf(dice)}
    made = dice.changed(_OBJECT, dice.pick((0.0, 0.03, 0.08)))
    text = json.dumps(made, ensure_ascii=dice.happens(0.5))
    if media_type != JSON and dice.happens(0.8):
        text = _yaml(made) or text
        if dice.happens(0.3):
            text = dice.pick(_ODD_YAML) + dice.pick(("", "data: {a: b}\n"))
    if dice.happens(0.3):
        text = dice.damaged(text)
    return {"type": media_type, "data": text.encode("utf-8", "surrogatepass").decode("latin-1")}


def _yaml(value: Any) -> str:
    """Nothing for what is nested so deeply that PyYAML cannot write it."""
    try:
        return yaml.dump(value)
    except RecursionError:
        return ""


def _protobuf(dice: Dice) -> str:
    name = b"\x0a\x04made"
    annotation = b"\x62\x06\x0a\x01x\x12\x01y"
    metadata = b"".join(dice.some((name, annotation, b"\x08\x01", b"\x6a\x00", b"\x1a\x01n"), 4))
    raw = b"\x0a" + bytes([len(metadata)]) + metadata + dice.pick((b"", b"\x12\x02hi", b"\x0a\x00"))
    whole = (
        MAGIC
        + b"\x0a\x00\x12"
        + bytes([len(raw)])
        + raw
        + dice.pick((b"", b"\x1a\x00", b"\x22\x00"))
    )
    text = whole.decode("latin-1")
    for _ in range(dice.pick((0, 0, 1, 3))):
        at = dice.number(0, len(text))
        text = text[:at] + chr(dice.number(0, 255)) + text[at + dice.number(0, 1) :]
    return text


@contextmanager
def _open(_folder: Path) -> Iterator[Check]:
    yield _check


def _check(case: Any) -> bool:
    data = case["data"].encode("latin-1")
    try:
        body = parse_body(case["type"], data)
        made = body.with_additions(_ADDITIONS)
        again = parse_body(case["type"], made)
    except UnreadableBodyError:
        return False
    uids = [row.get("uid") for row in again.metadata["ownerReferences"]]
    must(_REFERENCE["uid"] in uids, "the owner is there")
    must(
        all(again.metadata["annotations"][key] == text for key, text in _ANNOTATIONS.items()),
        "twice",
    )
    if case["type"] == PROTOBUF:
        must(len(made) > len(data), "nothing was lost")
        return True
    before, after = _read(data), _read(made)
    if isinstance(before, dict):
        must(isinstance(after, dict), "an object stays an object")
        must(_text(_without_owner(before)) == _text(_without_owner(after)), "all else stays")
        there = _rows(_map(after["metadata"]).get("ownerReferences"))
        must(
            any(row.get("uid") == _REFERENCE["uid"] for row in there),
            "each reader finds the owner",
        )
    return True


def _read(data: bytes) -> Any:
    """As the server does: JSON first, then YAML with the last of two equal keys; None: it cannot be."""
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        pass
    try:
        found = yaml.load(data, Loader=_Bounded)
        json.dumps(found, default=str)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, AttributeError):
        return None
    return found if _is_json_like(found) else None


def _is_json_like(found: Any) -> bool:
    """Whether its metadata is what the server takes for such: no set, nothing but maps and lists."""
    if not isinstance(found, dict) or not isinstance(found.get("metadata", {}), (dict, type(None))):
        return False
    metadata = found.get("metadata") or {}
    return isinstance(metadata.get("annotations") or {}, dict)


class _Bounded(yaml.SafeLoader):
    """Refuses aliases: what they make of a line is not what is compared here."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.events.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)


def _without_owner(value: dict[str, Any]) -> dict[str, Any]:
    metadata = _map(value.get("metadata"))
    rows = [row for row in _rows(metadata.get("ownerReferences")) if row != _REFERENCE]
    annotations = _map(metadata.get("annotations"))
    kept = {key: text for key, text in annotations.items() if key not in _ANNOTATIONS}
    return {**value, "metadata": {**metadata, "ownerReferences": rows, "annotations": kept}}


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _rows(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return json.dumps(_plain(value), sort_keys=True, default=str)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return "not a number" if isinstance(value, float) and not math.isfinite(value) else value


BODIES = EntryPoint("bodies", _make, _open, cases=2500)
