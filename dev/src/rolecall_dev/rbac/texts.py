"""YAML as roles have it: tags of Ansible are taken as plain values, and maps remember their lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

LINE = "__line__"


class _Loader(yaml.SafeLoader):
    """Takes any tag, and adds the line to every map."""


def _map(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    loader.flatten_mapping(node)
    value = loader.construct_mapping(node, deep=True)
    return {**value, LINE: node.start_mark.line + 1}


def _any_tag(loader: _Loader, _suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return _map(loader, node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return node.value


_Loader.add_constructor("tag:yaml.org,2002:map", _map)
_Loader.add_multi_constructor("!", _any_tag)


def read(path: Path) -> Any:
    """The first document of a file with YAML; None where there is nothing to be read."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        if text.startswith("$ANSIBLE_VAULT"):
            return None
        return next(iter(yaml.load_all(text, _Loader)), None)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return None  # `rolecall check` tells what is wrong with it


def read_plain(path: Path) -> list[dict[str, Any]]:
    """All maps among the documents of a file, without lines."""
    try:
        found = list(yaml.safe_load_all(path.read_text(encoding="utf-8-sig")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return []
    return [document for document in found if isinstance(document, dict)]
