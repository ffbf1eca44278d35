"""One rule of conversions.yaml becomes a `Rule`, or problems in the report.

A rule is named in annotations by what it says, so that its kept values are found again after rules were
added or moved, and are not taken for those of a rule that says something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import yaml

from rolecall.conversion.convert import NamedRule
from rolecall.conversion.keys import RULE_KEYS
from rolecall.conversion.paths import FieldPath, parse_path
from rolecall.conversion.rules import (
    Default,
    Each,
    Entries,
    Inverse,
    Move,
    Names,
    OneSided,
    Part,
    Rule,
    Split,
    Wrap,
)
from rolecall.documents import Fields, Report, ShapeError, json_value

_FIELD = re.compile(r"[A-Za-z_$][\w$-]*(\.[A-Za-z_$][\w$-]*)*")
_PART = re.compile(r"\{(\w+)\}")
_TOP = ("apiVersion", "kind", "metadata")


class _Reader:
    """The fields of one rule, and what its paths may be."""

    def __init__(self, fields: Fields, report: Report, sides: tuple[str, str], *, inner: bool):
        self.fields = fields
        self.report = report
        self.sides = sides
        self._is_inner = inner  # in `each`: paths begin at the item

    def path(self, name: str, instead: str = "") -> FieldPath:
        return self._checked(self.fields.text(name) or instead, self.fields.line_of(name))

    def _checked(self, text: str, line: int) -> FieldPath:
        if not _FIELD.fullmatch(text):
            self.report.error(
                line,
                f"`{text}` is not the path of a field",
                hint="write it with dots, as `spec.image.tag`; `each` is for the items of a list",
            )
            return ("",)
        path = parse_path(text)
        if not self._is_inner and path[0] in _TOP:
            self.report.error(
                line,
                f"`{text}` cannot be converted: the API server lets nothing of {path[0]} change",
                hint="convert fields of `spec` and `status`",
            )
        elif not self._is_inner and len(path) == 1:
            self.report.error(line, f"`{text}` is the whole of it: name a field in it")
        return path

    def parts(self, into: str) -> tuple[list[Part], str]:
        """The parts of a text, in its order, and what comes after the last."""
        text, line = self.fields.text("as"), self.fields.line_of("as")
        paths, patterns = self.fields.text_map(into), self.fields.text_map("parts")
        names = _PART.findall(text)
        numbers = self.fields.texts("numbers")
        self._check_names(names, paths, [*patterns, *numbers], line)
        pieces = _PART.split(text)
        parts = []
        for before, name in zip(pieces[::2], pieces[1::2], strict=False):
            pattern = patterns.get(name, ".+")
            self._check_pattern(name, pattern)
            place = self._checked(paths.get(name, "spec.x"), self.fields.line_of(into))
            parts.append(Part(before, pattern, place, name in numbers))
        return parts, pieces[-1]

    def _check_names(
        self, names: list[str], paths: Mapping[str, str], others: list[str], line: int
    ) -> None:
        if not names:
            self.report.error(
                line, "`as` has no parts", hint="name them in braces: `{host}:{port}`"
            )
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                self.report.error(line, f"part `{name}` is twice in `as`")
            if name not in paths:
                self.report.error(line, f"part `{name}` of `as` has no field")
        for name in {*paths, *others} - {*names}:
            self.report.error(line, f"`{name}` is not a part of `as`")

    def _check_pattern(self, name: str, pattern: str) -> None:
        line = self.fields.line_of("parts")
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            self.report.error(line, f"the pattern of `{name}` is not a regular expression: {error}")
            return
        if groups:
            hint = "write `(?:...)` for brackets that take nothing"
            self.report.error(line, f"the pattern of `{name}` has groups", hint=hint)


def read_rule(
    node: yaml.Node, report: Report, older: str, newer: str, *, inner: bool = False
) -> NamedRule | None:
    """One rule; None where it was reported."""
    listed = ", ".join(f"`{name}`" for name in RULE_KEYS)
    if not isinstance(node, yaml.MappingNode):
        report.error(report.line(node), f"a rule must be a map with one of {listed}")
        return None
    said = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
    kinds = [name for name in said if name in RULE_KEYS]
    if len(kinds) != 1:
        found = "none" if not kinds else " and ".join(f"`{kind}`" for kind in kinds)
        report.error(report.line(node), f"a rule has exactly one of {listed}; here is {found}")
        return None
    keys = RULE_KEYS[kinds[0]]
    fields = Fields(node, keys, report, is_strict=True)
    for key in keys:
        if key.is_required and fields.node_of(key.name) is None:
            report.error(fields.line, f"`{key.name}` is missing: {key.meaning}")
            return None
    reader = _Reader(fields, report, (older, newer), inner=inner)
    rule = _READERS[kinds[0]](reader)
    loses = kinds[0] == "lose" or bool(fields.truth("lossy") if "lossy" in said else False)
    return NamedRule(_name(node), rule, loses, fields.line)


def _name(node: yaml.MappingNode) -> str:
    try:
        said = json_value(node)
    except ShapeError:
        return ""
    return " ".join(str(value) for key, value in said.items() if isinstance(value, str))


def _rename(reader: _Reader) -> Rule:
    return Move(reader.path("rename"), reader.path("to"))


def _split(reader: _Reader) -> Rule:
    return Split(reader.path("split"), *reader.parts("into"))


def _join(reader: _Reader) -> Rule:
    return Inverse(Split(reader.path("to"), *reader.parts("join")))


def _values(reader: _Reader) -> Rule:
    names = reader.fields.text_map("map")
    for value in {value for value in names.values() if list(names.values()).count(value) > 1}:
        reader.report.error(
            reader.fields.line_of("map"),
            f"two values become `{value}`, so that it has no way back",
            hint="give each a name of its own, or add `lossy: true` and the one that comes back last",
        )
    source = reader.path("values")
    return Names(source, reader.path("to", ".".join(source)), names)


def _wrap(reader: _Reader) -> Rule:
    return Wrap(reader.path("wrap"), reader.path("to"))


def _entries(reader: _Reader) -> Rule:
    source, text = reader.path("entries"), reader.fields.text
    target = reader.path("to", ".".join(source))
    return Entries(source, target, text("key") or "name", text("value") or "value")


def _default(reader: _Reader) -> Rule:
    return Default(reader.path("default"), reader.fields.anything("value"))


def _one_sided(key: str) -> Callable[[_Reader], Rule]:
    def read(reader: _Reader) -> Rule:
        version = reader.fields.text("of")
        if version not in reader.sides:
            older, newer = reader.sides
            reader.report.error(
                reader.fields.line_of("of"), f"`of` is neither `{older}` nor `{newer}`"
            )
        return OneSided(reader.path(key), version == reader.sides[0])

    return read


def _each(reader: _Reader) -> Rule:
    read = [
        read_rule(item, reader.report, *reader.sides, inner=True)
        for item in reader.fields.items("rules")
    ]
    return Each(reader.path("each"), [named.rule for named in read if named is not None])


_READERS: dict[str, Callable[[_Reader], Rule]] = {
    "rename": _rename,
    "split": _split,
    "join": _join,
    "values": _values,
    "wrap": _wrap,
    "entries": _entries,
    "default": _default,
    "keep": _one_sided("keep"),
    "lose": _one_sided("lose"),
    "each": _each,
}
