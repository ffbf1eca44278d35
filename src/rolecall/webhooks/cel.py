"""Looks at the text of a CEL expression, as far as one can without the API server.

It judges CEL. Here are found what is obviously wrong (nothing there, a bracket or a quote too few, a
single `=`) and which of the API server's variables a rule reads, which decide what kind of rule it is.
"""

from __future__ import annotations

import re

_PAIRS = {")": "(", "]": "[", "}": "{"}
_TEXT = re.compile(
    r"[rRbB]{0,2}(?:"
    r'"""(?:\\.|[^\\])*?"""|' + r"'''(?:\\.|[^\\])*?'''|"
    r'"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*')",
    re.DOTALL,
)
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_LONE_EQUALS = re.compile(r"(?<![=!<>])=(?!=)")
_OF_SCHEMA = frozenset({"self", "oldSelf"})
_OF_REQUEST = frozenset({"object", "oldObject", "request", "namespaceObject", "authorizer"})


def why_wrong(expression: str) -> str:
    """What is obviously wrong; empty where nothing is."""
    if not expression.strip():
        return "is empty"
    code = _without_texts(expression)
    if '"' in code or "'" in code:
        return "has a quote that nothing closes"
    if _LONE_EQUALS.search(code):
        return "has a single `=`; CEL compares with `==`"
    return _unbalanced(code)


def reads_schema(expression: str) -> bool:
    """Whether it is about the object alone, as a validation rule of a CRD is."""
    return bool(_names_in(expression) & _OF_SCHEMA)


def reads_request(expression: str) -> bool:
    """Whether it is about the request, as a ValidatingAdmissionPolicy is."""
    return bool(_names_in(expression) & _OF_REQUEST)


def _names_in(expression: str) -> set[str]:
    return set(_NAME.findall(_without_texts(expression)))


def _without_texts(expression: str) -> str:
    return _TEXT.sub(" ", expression)


def _unbalanced(code: str) -> str:
    opened: list[str] = []
    for character in code:
        if character in _PAIRS.values():
            opened.append(character)
        elif character in _PAIRS and (not opened or opened.pop() != _PAIRS[character]):
            return f"has a `{character}` that nothing opens"
    return f"has a `{opened[-1]}` that nothing closes" if opened else ""
