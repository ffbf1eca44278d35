"""`KIND/NAME` as people type it, held against the kinds that watches.yaml names.

A kind may be written as `Website`, `website`, or with its group: `website.example.com`. Plurals are not
known here; they are the API server's, which is asked only for what exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from rolecall.errors import InputError
from rolecall.watches import Watch


@dataclass(frozen=True, slots=True)
class NamedCr:
    """A CR in the cluster, not read yet."""

    watch: Watch
    name: str


def parse_named(text: str, watches: Sequence[Watch]) -> NamedCr:
    """The watch and the name; raises `InputError` with what there is."""
    kind, slash, name = text.partition("/")
    if not (kind and slash and name) or "/" in name:
        raise InputError(
            f"`{text}` is not the name of a CR; write KIND/NAME, such as `{_example(watches)}`",
            hint=f"`--cr FILE` runs the role of a CR in a file; for `{text}` that would be"
            f" `--cr {text}`",
        )
    found = [watch for watch in watches if kind.lower() in _spellings(watch)]
    if not found:
        raise _unknown(kind, watches)
    if len(found) > 1:
        # What the API server stores once, entries may name in several versions: any will do.
        groups = {watch.gvk.group for watch in found}
        if len(groups) > 1:
            names = ", ".join(f"`{watch.gvk.group_kind}`" for watch in found)
            raise InputError(f"`{kind}` is several kinds; write one of {names}")
    return NamedCr(found[0], name)


def _spellings(watch: Watch) -> set[str]:
    gvk = watch.gvk
    with_version = f"{gvk.kind}.{gvk.version}.{gvk.group}"
    return {text.lower() for text in (gvk.kind, gvk.group_kind, with_version)}


def _unknown(kind: str, watches: Sequence[Watch]) -> InputError:
    kinds = {watch.gvk.kind.lower(): watch.gvk.kind for watch in watches}
    near = get_close_matches(kind.lower(), kinds, n=1)
    watched = ", ".join(dict.fromkeys(kinds.values())) or "nothing"
    hint = f"did you mean `{kinds[near[0]]}`?" if near else f"watches.yaml watches {watched}"
    return InputError(f"the kind `{kind}` is not watched", hint=hint)


def _example(watches: Sequence[Watch]) -> str:
    return f"{watches[0].gvk.kind}/NAME" if watches else "Website/web"
