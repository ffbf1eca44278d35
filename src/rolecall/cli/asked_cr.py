"""Which CR a command is about, as the cluster knows it: so that the replica which has it can be asked.

What was typed may be wrong, of two kinds or of two namespaces. Then nothing is known here, some
replica is asked, and that one tells what is wrong, in the words of every engine.
"""

from __future__ import annotations

import argparse

from rolecall.cli.kind_words import KindWords, choose_kind, cr_word
from rolecall.cli.served_kinds import kind_names
from rolecall.errors import ClusterError, InputError
from rolecall.gvk import Gvk
from rolecall.kube import Client, named_kinds
from rolecall.workqueue import Key


async def key_asked(client: Client, arguments: argparse.Namespace) -> Key | None:
    """The CR that was named as KIND/NAME; None: none was, or it is not known which."""
    what = getattr(arguments, "what", None)
    if not what:
        return None
    try:
        word = cr_word(what)
        served = [kind_names(each) for each in await named_kinds(client)]
        kind = choose_kind(word.kind, served)
        if kind is None or not word.name:
            return None
        place = await _namespace_of(client, kind, word.name, arguments.namespace)
    except (InputError, ClusterError):
        return None
    return None if place is None else Key(_gvk(kind), place, word.name)


async def _namespace_of(client: Client, kind: KindWords, name: str, asked: str) -> str | None:
    """Empty for a kind without namespaces; None: there is none of this name, or several."""
    if not kind.is_namespaced:
        return ""
    if asked:
        return asked
    selector = f"metadata.name={name}"
    pages = client.pages(_gvk(kind), field_selector=selector, metadata_only=True)
    found = {str(item["metadata"]["namespace"]) async for page in pages for item in page.items}
    return found.pop() if len(found) == 1 else None


def _gvk(kind: KindWords) -> Gvk:
    return Gvk(kind.group, kind.version, kind.kind)
