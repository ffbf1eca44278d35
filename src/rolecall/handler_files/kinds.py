"""Which kind a decorator of kopf names, in all the ways that kopf knows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rolecall.gvk import Gvk

_VERSION = re.compile(r"v\d+(?:(?:alpha|beta)\d+)?")
_NAMES = ("kind", "plural", "singular", "shortcut", "category")


@dataclass(frozen=True, slots=True)
class KnownKind:
    """A kind that a watch names, as far as its other names are known here."""

    gvk: Gvk
    names: frozenset[str] = frozenset()  # plural, singular, short names, categories


@dataclass(frozen=True, slots=True)
class AskedKind:
    """What a decorator says; None: it says nothing of that."""

    name: str
    group: str | None = None
    version: str | None = None

    def matches(self, known: KnownKind) -> bool:
        """Whether a watch's kind is meant; by its kind alone where its plural is not known."""
        gvk = known.gvk
        names = {gvk.kind, *known.names}
        if not known.names:
            single = gvk.kind.lower()
            names |= {single, f"{single}s", f"{single}es", f"{single[:-1]}ies"}
        is_group = self.group in (None, gvk.group)
        return is_group and self.version in (None, gvk.version) and self.name in names

    def __str__(self) -> str:
        group = f".{self.group}" if self.group else ""
        return f"{self.name}{group}{f' {self.version}' if self.version else ''}"


def asked_kind(args: Sequence[str], named: Mapping[str, str]) -> AskedKind | None:
    """From the texts of a decorator; None where they name no kind, or all."""
    group, version = named.get("group"), named.get("version")
    name = next((named[each] for each in _NAMES if each in named), None)
    match list(args):
        case []:
            pass
        case [one] if "." in one:
            name, _, rest = one.partition(".")
            first, _, others = rest.partition(".")
            if _VERSION.fullmatch(first):
                version, group = first, others or group
            else:
                group = rest
        case [one]:
            name = one
        case [place, one] if "/" in place:
            group, _, version = place.rpartition("/")
            name = one
        case ["v1", one]:
            group, version, name = "", "v1", one
        case [place, one]:
            group, name = place, one
        case [group, version, name, *_]:
            pass
    return AskedKind(name, group, version) if name else None
