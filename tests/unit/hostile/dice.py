"""Draws texts, keys, numbers, trees and damage: the vocabulary of all generators.

What is drawn is mostly ordinary and odd in one or two places, because what is odd all over is refused
at once and tests nothing of what follows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

_Item = TypeVar("_Item")

EVIL = "{{ lookup('pipe', 'touch /tmp/hostile-was-here') }}"
TEXTS = (
    *(
        "",
        " ",
        "a",
        "shop",
        "Übung",
        "😀",
        "0",
        "-1",
        "1e400",
        "NaN",
        "-0",
        ".inf",
        "yes",
        "no",
        "on",
    ),
    *(
        "null",
        "~",
        "0o7",
        "0x1F",
        "010",
        "1_000",
        "1:30",
        "2026-11-25",
        "08",
        "0b11",
        "1.",
        ".5",
        "+1",
    ),
    *(
        EVIL,
        "{% raw %}",
        "{# x",
        "}}",
        "{{",
        "!unsafe x",
        "!vault |",
        "!!python/object:os.system",
        "!x y",
    ),
    *(
        "a\nb",
        "a\r\nFAKE: x",
        "\x1b[2J\x1b]0;x\x07",
        "\u202edlrow",
        "\u2028",
        "\x85",
        "\ufeffx",
        "\x00",
    ),
    *(
        "\x7f",
        "\x1b[K",
        "\ufffe",
        "a\tb",
        "# x",
        "- x",
        "? x",
        ": ",
        "&a",
        "*a",
        "<<",
        "@x",
        "`x`",
        "%x",
    ),
    *(
        "'",
        '"',
        "\\",
        "\\u0000",
        "''",
        '""',
        "'''",
        "|",
        ">",
        "[",
        "]",
        "{",
        "}",
        ",",
        "=",
        "---",
        "...",
    ),
    *(
        "../../etc/passwd",
        "/",
        "..",
        ".",
        "%2e%2e",
        "a/b",
        "C:\\x",
        "$HOME",
        "${PATH}",
        "$(id)",
        "`id`",
    ),
    *(
        "__ansible_unsafe",
        "__ansible_vault",
        "__class__",
        "Secret",
        "kind: Secret",
        "MASK",
        "********",
    ),
    *("9" * 19, "9" * 400, "9" * 5000, "0x" + "f" * 5000, "a" * 300, "x" * 5000, "1" * 5000 + "s"),
    *(
        "30s",
        "5m",
        "1h2m3s",
        "-1s",
        "1.5h",
        "9999999h",
        "1e3s",
        "∞s",
        "\uff11s",
        "٣m",
        "0",
        "+0",
        "s",
    ),
    *(
        "true",
        "false",
        "True",
        "FALSE",
        "\u0130",
        "\u212a",
        "ﬁ",
        "ß",
        "e\u0301",
        "\U000e0001",
        "\ud800",
    ),
)
KEYS = (
    *(
        "a",
        "b",
        "name",
        "size",
        "spec",
        "fooBar",
        "foo_bar",
        "FooBar",
        "fooBAR",
        "httpURL",
        "IPs",
        "a1b2",
    ),
    *(
        "ansible_connection",
        "ansibleConnection",
        "ansible_python_interpreter",
        "ansible_host",
        "vars",
    ),
    *(
        "ansible_operator_meta",
        "ansibleOperatorMeta",
        "_demo_example_com_app",
        "_demo_example_com_app_spec",
    ),
    *(
        "hostvars",
        "groups",
        "omit",
        "item",
        "environment",
        "no_log",
        "inventory_hostname",
        "play_hosts",
    ),
    *(
        "__ansible_unsafe",
        "__ansible_vault",
        "__ansible_type",
        "<<",
        "=",
        "~",
        "null",
        "yes",
        "1",
        "1.0",
    ),
    *(
        "",
        " ",
        "\t",
        "a.b",
        "a/b",
        "a'b",
        'a"b',
        "a\nb",
        "a: b",
        "{{ x }}",
        "k{% raw %}",
        "{# c #}",
        EVIL,
    ),
    *(
        "\x00",
        "\u2028",
        "\x85",
        "\ufeff",
        "\x7f",
        "\ud800",
        "😀",
        "ü",
        "key " * 300,
        "x" * 2000,
        "from_vars",
    ),
)
_NUMBERS = (
    *(0, 1, -1, 7, 2**31, 2**53 + 1, 2**63, 2**64, 2**70, -(2**63), 10**300, 1.0, -0.0, 0.1, 1e20),
    *(1e21, 1e22, 1.7976931348623157e308, 5e-324, 1e-7, 123456789.123456789, 3.4e38),
)
_LETTERS = "ab Z09_-./:{}%#\"'\\\n\t,[]&*!|>@`~=?$\u00e9\u2028\u202e\x1b\x00\ud83d\U0001f600"


class Dice:
    """One case's source of chance."""

    def __init__(self, chance: random.Random) -> None:
        self._random = chance

    def pick(self, items: Sequence[_Item]) -> _Item:
        return self._random.choice(items)

    def some(self, items: Sequence[_Item], most: int) -> list[_Item]:
        return [self.pick(items) for _ in range(self.number(0, most))]

    def number(self, least: int, most: int) -> int:
        return self._random.randint(least, most)

    def happens(self, share: float) -> bool:
        return self._random.random() < share

    def one_of(self, *ways: Callable[[], Any]) -> Any:
        return self.pick(ways)()

    def text(self) -> str:
        """Mostly out of the table, sometimes drawn letter by letter, or two of them joined."""
        if self.happens(0.7):
            return self.pick(TEXTS)
        if self.happens(0.5):
            return "".join(self.pick(_LETTERS) for _ in range(self.number(0, 40)))
        return self.pick(TEXTS) + self.pick(TEXTS)

    def key(self) -> str:
        return self.pick(KEYS) if self.happens(0.85) else self.text()

    def scalar(self) -> Any:
        if self.happens(0.6):
            return self.text()
        return self.pick((None, True, False, *_NUMBERS))

    def tree(self, depth: int = 4) -> Any:
        """Any JSON value."""
        if depth == 0 or self.happens(0.45):
            return self.scalar()
        if self.happens(0.02):
            return self._deep()
        if self.happens(0.35):
            return [self.tree(depth - 1) for _ in range(self.number(0, 4))]
        return self.map(depth - 1)

    def map(self, depth: int = 3) -> dict[str, Any]:
        return {self.key(): self.tree(depth) for _ in range(self.number(0, 5))}

    def _deep(self) -> Any:
        value: Any = self.scalar()
        for _ in range(self.pick((60, 150, 400))):
            value = [value] if self.happens(0.5) else {"a": value}
        return value

    def changed(self, value: Any, share: float = 0.15) -> Any:
        """The same tree with some of its parts replaced, left out, doubled, or of another type."""
        if self.happens(share):
            return self.tree(2)
        if isinstance(value, dict):
            rows = [(key, self.changed(item, share)) for key, item in value.items()]
            rows = [row for row in rows if not self.happens(share / 3)]
            if self.happens(share):
                rows.append((self.key(), self.tree(2)))
            return dict(rows)
        if isinstance(value, list):
            items = [self.changed(item, share) for item in value]
            return items + items[:1] if self.happens(share) else items
        return value

    def damaged(self, text: str, most: int = 3) -> str:
        """The same text with a few places cut, doubled, swapped, or written over."""
        for _ in range(self.number(0, most)):
            at, end = sorted((self.number(0, len(text)), self.number(0, len(text))))
            end = min(end, at + self.pick((1, 3, 20, 200)))
            part = text[at:end]
            new = self.pick(("", part * 2, self.pick(_LETTERS), self.pick(TEXTS), part[::-1]))
            text = text[:at] + new + text[end:]
        return text
