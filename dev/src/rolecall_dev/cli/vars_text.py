"""Extra vars as a person, a molecule scenario or `ansible-playbook -e @file` reads them.

The same values as a run gets, in plain YAML or JSON. Only text that Ansible would take for a template
is marked, so that the file reads well and still means the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml

from rolecall.runner import Unsafe

_TEMPLATE_MARKS = ("{{", "{%", "{#")


def as_yaml(values: Mapping[str, Any]) -> str:
    """The values as YAML, with Ansible's `!unsafe` tag where it matters."""
    return yaml.dump(dict(values), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def as_json(values: Mapping[str, Any]) -> str:
    """The values as JSON, with `__ansible_unsafe` objects where it matters."""
    return json.dumps(_encoded(dict(values)), indent=2, ensure_ascii=False)


def _is_like_a_template(text: str) -> bool:
    return any(mark in text for mark in _TEMPLATE_MARKS)


def _encoded(value: Any) -> Any:
    if isinstance(value, Unsafe):
        return {"__ansible_unsafe": str(value)} if _is_like_a_template(value) else str(value)
    if isinstance(value, dict):
        return {str(key): _encoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_encoded(item) for item in value]
    return value


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, _data: Any) -> bool:
        """No anchors: the whole CR and its spec are printed out, each."""
        return True


def _represent(dumper: _Dumper, text: Unsafe) -> yaml.ScalarNode:
    plain = str(text)
    if _is_like_a_template(plain):
        return dumper.represent_scalar("!unsafe", plain, style='"')
    return dumper.represent_str(plain)


_Dumper.add_representer(Unsafe, _represent)
