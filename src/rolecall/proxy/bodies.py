"""Reads the object in a request's body and writes an owner into it: JSON, YAML, or protobuf.

Promise: everything else in the body means afterwards what it meant before. A body that cannot be read
raises `UnreadableBodyError` and is for the API server to judge; it can make nothing from it either.

The hard part is YAML, which server-side apply may send: Python and Go disagree on what `22:22` or
`2026-11-21` are. So a YAML body is never turned into values, only into its tree of nodes, which keeps
the text of every scalar. JSON numbers and texts survive a round trip as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

import yaml

from rolecall.proxy.owners import Additions
from rolecall.proxy.protobuf import ProtobufBody, UnreadableBodyError

JSON = "application/json"
APPLY = "application/apply-patch+yaml"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"

_FROM_JSON_OR_YAML = frozenset({APPLY, YAML})
_Nodes = list[tuple[yaml.Node, yaml.Node]]
_MERGE = "tag:yaml.org,2002:merge"


class Body(Protocol):
    """An object on its way to the API server."""

    @property
    def kind(self) -> str:
        """Its kind; empty where the body does not say it readably."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Its metadata, as far as owners are concerned."""

    def with_additions(self, additions: Additions) -> bytes: ...


def can_read(media_type: str) -> bool:
    """Whether bodies of this type can be read here."""
    return media_type in {JSON, PROTOBUF, *_FROM_JSON_OR_YAML}


def parse_body(media_type: str, data: bytes) -> Body:
    """Read a body; raises `UnreadableBodyError`."""
    if media_type == PROTOBUF:
        return ProtobufBody(data)
    try:
        return JsonBody(data)
    except UnreadableBodyError:
        if media_type not in _FROM_JSON_OR_YAML:
            raise
        return YamlBody(data)


class JsonBody:
    def __init__(self, data: bytes) -> None:
        try:
            # The server replaces what is not UTF-8, so it is for the server to judge.
            body = json.loads(data.decode("utf-8", errors="replace"))
        except (ValueError, RecursionError) as failure:
            raise UnreadableBodyError("the body is not JSON") from failure
        if not isinstance(body, dict):
            raise UnreadableBodyError("the body is not an object")
        self._body = body
        self.kind = str(body.get("kind") or "")
        self.metadata: Mapping[str, Any] = _checked(body.get("metadata"))

    def with_additions(self, additions: Additions) -> bytes:
        metadata = dict(self.metadata)
        if additions.references:
            there = metadata.get("ownerReferences") or []
            metadata["ownerReferences"] = [*there, *additions.references]
        if additions.annotations:
            annotations = metadata.get("annotations") or {}
            metadata["annotations"] = {**annotations, **additions.annotations}
        return json.dumps({**self._body, "metadata": metadata}, separators=(",", ":")).encode()


class YamlBody:
    """An object in YAML, as a tree of nodes."""

    def __init__(self, data: bytes) -> None:
        try:
            root = yaml.compose(data, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, RecursionError, ValueError) as failure:
            raise UnreadableBodyError("the body is not YAML") from failure
        if not isinstance(root, yaml.MappingNode):
            raise UnreadableBodyError("the body is not an object")
        self._root = root
        try:
            metadata = _with_merges_taken_in(root)
            plain = _plain(metadata, {}) if metadata else None
        except RecursionError as failure:
            raise UnreadableBodyError("the body's metadata has no end") from failure
        kind = _child(root, "kind")
        self.kind = str(kind.value) if isinstance(kind, yaml.ScalarNode) else ""
        self.metadata: Mapping[str, Any] = _checked(plain)

    def with_additions(self, additions: Additions) -> bytes:
        metadata = _made_child(self._root, "metadata", yaml.MappingNode, "map")
        if additions.references:
            references = _made_child(metadata, "ownerReferences", yaml.SequenceNode, "seq")
            references.value.extend(_node(dict(row)) for row in additions.references)
        if additions.annotations:
            annotations = _made_child(metadata, "annotations", yaml.MappingNode, "map")
            new = additions.annotations
            annotations.value = [row for row in annotations.value if not _is_named(row[0], new)]
            annotations.value += [(_node(key), _node(text)) for key, text in new.items()]
        # On one line: PyYAML adds a backslash where it folds a text behind an escaped tab.
        text = yaml.serialize(self._root, Dumper=yaml.SafeDumper, width=float("inf"))
        return str(text).encode()


def _checked(metadata: Any) -> Mapping[str, Any]:
    """Metadata of the shape that the API server accepts, or no metadata at all."""
    if metadata is None:
        return {}
    if isinstance(metadata, dict):
        references = metadata.get("ownerReferences") or []
        annotations = metadata.get("annotations") or {}
        are_rows = isinstance(references, list) and all(isinstance(row, dict) for row in references)
        if are_rows and isinstance(annotations, dict):
            return metadata
    raise UnreadableBodyError("the body's metadata is malformed")


def _with_merges_taken_in(root: yaml.MappingNode) -> yaml.Node | None:
    """Write out what a key `<<` takes from other maps, where we add keys that would hide it.

    Returns the metadata.
    """
    root.value = _rows(root, {})
    metadata = _child(root, "metadata")
    if isinstance(metadata, yaml.MappingNode):
        metadata.value = _rows(metadata, {})
        annotations = _child(metadata, "annotations")
        if isinstance(annotations, yaml.MappingNode):
            annotations.value = _rows(annotations, {})
    return metadata


def _rows(node: yaml.MappingNode, known: dict[int, _Nodes]) -> _Nodes:
    """With those of merged maps, of which the first with a key wins, and the map itself over all."""
    if id(node) in known:
        return known[id(node)]
    known[id(node)] = []  # for a map that is merged into itself
    rows: _Nodes = [row for row in node.value if row[0].tag != _MERGE]
    said = {str(key.value) for key, _ in rows}
    for source in (value for key, value in node.value if key.tag == _MERGE):
        for each in source.value if isinstance(source, yaml.SequenceNode) else [source]:
            if not isinstance(each, yaml.MappingNode):
                raise UnreadableBodyError("a merge key (`<<`) in the body must refer to a map")
            new = [row for row in _rows(each, known) if str(row[0].value) not in said]
            said.update(str(key.value) for key, _ in new)
            rows = [*rows, *new]
    known[id(node)] = rows
    return rows


def _child(node: yaml.MappingNode, key: str) -> yaml.Node | None:
    """The last, as the server has it, where there are several."""
    rows: _Nodes = node.value
    return next((value for name, value in reversed(rows) if name.value == key), None)


def _made_child(node: yaml.MappingNode, key: str, kind: Any, tag: str) -> Any:
    """A copy of it: by an alias, the same node may be the value of another key, too."""
    child = _child(node, key)
    content = list(child.value) if isinstance(child, kind) else []
    node.value = [row for row in node.value if row[0].value != key]  # `metadata:` with nothing, too
    made = kind(tag=f"tag:yaml.org,2002:{tag}", value=content, flow_style=False)
    node.value.append((_node(key), made))
    return made


def _node(value: Any) -> yaml.Node | None:
    return yaml.compose(json.dumps(value), Loader=yaml.SafeLoader)


def _is_named(key: yaml.Node, names: Mapping[str, str]) -> bool:
    return isinstance(key, yaml.ScalarNode) and key.value in names


def _plain(node: yaml.Node, known: dict[int, Any]) -> Any:
    """Only the shape and the texts of a tree: enough to see which owners are there.

    `known`: what was made of a node, which aliases may name a thousand times.
    """
    if id(node) not in known:
        known[id(node)] = _made_plain(node, known)
    return known[id(node)]


def _made_plain(node: yaml.Node, known: dict[int, Any]) -> Any:
    if isinstance(node, yaml.MappingNode):
        return {_key_text(key): _plain(value, known) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_plain(value, known) for value in node.value]
    return None if node.tag == "tag:yaml.org,2002:null" else node.value


def _key_text(key: yaml.Node) -> str:
    """The text of a scalar key; others are never looked up, and serializing one could take for ever."""
    return str(key.value) if isinstance(key, yaml.ScalarNode) else ""
