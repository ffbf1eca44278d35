"""Objects as YAML that people review: the same object gives the same bytes."""

from __future__ import annotations

from typing import Any

import yaml

from rolecall.json_object import Json


class _Dumper(yaml.SafeDumper):
    """Long texts as blocks, lists indented; no anchors, which some tools stumble over."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        return super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def as_yaml(document: Json, *, sort_keys: bool = True) -> str:
    """One document, without the line that begins it."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=sort_keys, width=110, allow_unicode=True)
