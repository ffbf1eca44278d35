"""What Ansible says of roles that were written for ansible-core 2.18, and the way out.

From 2.19 on a condition must be a boolean, and a template keeps the kind of its value. Late patch
releases of 2.18, and later ones where `ALLOW_BROKEN_CONDITIONALS` is set, run such a role and print a
warning; otherwise the task fails, in words that name the kind and not what to write. `rolecall check`
finds most of it without a run; this is for the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Of Ansible: who installed from PyPI does not have our docs.
PORTING_GUIDE = (
    "https://docs.ansible.com/ansible-core/2.19/porting_guides/porting_guide_core_2.19.html"
)

_CONDITIONS = (
    "write `... | length > 0`, `... is truthy` or `... | bool`"
    f" (ansible-core 2.19 takes only true and false: see {PORTING_GUIDE})"
)
_BRACES = "name the variable without braces"
_NUMBERS = "a template keeps numbers and null since 2.19: add `| string`"
# What a failure says, and what to write; the first that matches.
_WAYS_OUT = tuple(
    (re.compile(pattern), way_out)
    for pattern, way_out in (
        (r"Conditionals must have a boolean result|Conditional result was of type", _CONDITIONS),
        (r"Conditional expressions must be strings", "put it in quotes"),
        (r"Empty conditional expressions", "write `true`, or remove it"),
        (r"Template delimiters are not supported in expressions", _BRACES),
        (r"Encountered untrusted template or expression", _BRACES),
        (r"Type 'range' is unsupported", "add `| list`"),
        (r"Type 'Undefined' is unsupported", "give the `if` an `else`"),
        (r"must resolve to a 'list', not 'str'", "write one expression"),
        (r"_AnsibleTagged(Int|Float)|cannot unmarshal (number|bool) into Go .* string", _NUMBERS),
        (r"'NoneType' has no len|type 'int' has no attribute '(split|strip|replace)", _NUMBERS),
    )
)

_ESCAPE_CODES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_BROKEN = re.compile(
    r"\[DEPRECATION WARNING\]: Conditional result at (?:approximate )?location\s+(?P<old>.+?) "
    r"(?P<old_line>\d+):\d+ was of type '(?P<old_type>\w+)'"
    r"|\[DEPRECATION WARNING\]: Conditional result \(\w+\) was derived from value of type"
    r" '(?P<type>\w+)'.*?Origin: (?P<file>.+?):(?P<line>\d+):\d+",
    re.DOTALL,
)
_TYPES = {"AnsibleUnicode": "str", "AnsibleUnsafeText": "str", "NativeJinjaUnsafeText": "str"}


@dataclass(frozen=True, slots=True)
class BrokenConditional:
    """A condition that ran with a warning, and that will fail from 2.19 on."""

    file: str
    line: int
    type: str  # as Python calls it
    way_out: str = _CONDITIONS


def way_out_of(message: str) -> str:
    """What to write instead, where a failure is of this class; else nothing."""
    return next((way_out for pattern, way_out in _WAYS_OUT if pattern.search(message)), "")


def broken_conditionals(stdout: str) -> Iterator[BrokenConditional]:
    """The warnings in what an event printed."""
    if "Conditional" not in stdout:
        return
    text = _ESCAPE_CODES.sub("", stdout)
    # 2.18 folds its warning at the width of the terminal, in the middle of a path if need be; the
    # spaces at the folds stay. 2.19 does not fold.
    folded = text.replace("\r\n", "\n").replace("\n", "")
    for found in _BROKEN.finditer(text if "Origin: " in text else folded):
        kind = found["type"] or found["old_type"]
        yield BrokenConditional(
            file=(found["file"] or found["old"]).strip(),
            line=int(found["line"] or found["old_line"]),
            type=_TYPES.get(kind, kind),
        )
