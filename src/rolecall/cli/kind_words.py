"""The kinds and CRs that people name: `website`, `Websites`, `web/shop`, as kubectl takes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall.json_object import Json


class CrWord(NamedTuple):
    """What was typed; no name means all of the kind."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}" if self.name else self.kind


@dataclass(frozen=True, slots=True)
class KindWords:
    """How a kind may be called."""

    kind: str
    group: str
    version: str = ""
    plural: str = ""
    singular: str = ""
    short: tuple[str, ...] = ()
    is_namespaced: bool = True

    @property
    def gvk(self) -> Gvk:
        return Gvk(self.group, self.version, self.kind)

    @property
    def words(self) -> tuple[str, ...]:
        """In small letters; each may be followed by the group."""
        named = (self.kind, self.plural, self.singular, *self.short)
        return tuple(dict.fromkeys(word.lower() for word in named if word))

    def is_called(self, word: str) -> bool:
        name, _, group = word.lower().partition(".")
        return name in self.words and group in ("", self.group, f"{self.version}.{self.group}")

    def is_of(self, cr: Mapping[str, str]) -> bool:
        group = group_of(cr["api_version"])
        return (self.kind, self.group) == (cr["kind"], group)


def cr_word(text: str) -> CrWord:
    """Read `KIND` or `KIND/NAME`."""
    kind, slash, name = text.partition("/")
    if not kind or (slash and not name) or "/" in name:
        raise InputError(
            f"`{text}` is not the name of a CR; write KIND/NAME, such as `website/shop`"
        )
    return CrWord(kind, name)


def named_cr(text: str) -> CrWord:
    """Read `KIND/NAME`, both of them."""
    word = cr_word(text)
    if not word.name:
        raise InputError(
            f"`{text}` is not the name of a CR; write KIND/NAME, such as `{word.kind}/shop`"
        )
    return word


def kinds_of(crs: Iterable[Json]) -> list[KindWords]:
    """The kinds in documents that have `kind` and `api_version`, each once."""
    return list(dict.fromkeys(_kind_names(each) for each in crs))


def choose_kind(word: str, known: Sequence[KindWords]) -> KindWords | None:
    """The kind that is meant, or None; several of one name need their group."""
    found = {(each.kind, each.group): each for each in known if each.is_called(word)}
    if len(found) > 1:
        named = ", ".join(f"`{each.kind.lower()}.{each.group}`" for each in found.values())
        raise InputError(f"`{word}` is the name of several kinds; write one of {named}")
    return next(iter(found.values()), None)


def require_kind(word: str, known: Sequence[KindWords]) -> KindWords:
    """Raises `InputError` where none is meant."""
    found = choose_kind(word, known)
    if found is None:
        raise unknown_kind(word, known)
    return found


def unknown_kind(word: str, known: Sequence[KindWords]) -> InputError:
    """With the nearest that there is."""
    if not known:
        return InputError(f"kind `{word}` is not known: nothing has run or is watched here yet")
    words = {each: names.kind.lower() for names in known for each in names.words}
    near = get_close_matches(word.lower().partition(".")[0], words, n=1)
    kinds = ", ".join(sorted({f"`{each.kind.lower()}`" for each in known}))
    hint = f"did you mean `{near[0]}`?" if near else f"there are {kinds}"
    return InputError(f"kind `{word}` is not watched here", hint=hint)


def choose_cr(word: CrWord, namespace: str, crs: Sequence[Json]) -> Json:
    """The one CR of this name among those of its kind."""
    found = [each for each in crs if each["name"] == word.name]
    if namespace:
        found = [each for each in found if each["namespace"] == namespace]
    if len(found) > 1:
        places = ", ".join(f"`{each['namespace']}`" for each in found)
        raise InputError(f"`{word}` is in several namespaces: {places}", hint="add -n NAMESPACE")
    if not found:
        raise _unknown_cr(word, namespace, crs)
    return found[0]


def _unknown_cr(word: CrWord, namespace: str, crs: Sequence[Json]) -> InputError:
    place = f" in namespace `{namespace}`" if namespace else ""
    near = get_close_matches(word.name, [str(each["name"]) for each in crs], n=1)
    others = sorted({str(each["namespace"]) for each in crs if each["name"] == word.name})
    if others:
        hint = f"it is in `{others[0]}`: add -n {others[0]}"
    elif near:
        hint = f"did you mean `{word.kind}/{near[0]}`?"
    else:
        hint = f"`rolecall status {word.kind}` lists those that are known"
    return InputError(f"`{word}` is not known{place}", hint=hint)


def _kind_names(document: Json) -> KindWords:
    api_version = str(document["api_version"])
    return KindWords(
        str(document["kind"]),
        group_of(api_version),
        api_version.rpartition("/")[2],
        str(document.get("plural") or ""),
    )


def group_of(api_version: str) -> str:
    return api_version.rpartition("/")[0]
