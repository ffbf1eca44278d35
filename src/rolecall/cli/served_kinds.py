"""The kinds of the cluster and their CRs, for words that nobody else knows; silent on failure."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping

from rolecall.cli.kind_words import KindWords
from rolecall.errors import RolecallError
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials, NamedKind, Timeouts, named_kinds

_TIMEOUTS = Timeouts(connect_s=1.0, total_s=2.0)
_PATIENCE_S = 2.0


def kinds_served(environ: Mapping[str, str]) -> list[KindWords]:
    """All of them; none where the cluster cannot be asked."""
    with contextlib.suppress(RolecallError, TimeoutError, OSError):
        return asyncio.run(_kinds_served(environ))
    return []


def names_of(kind: KindWords, namespace: str, environ: Mapping[str, str]) -> list[str]:
    """The names of a kind's objects, in a namespace or in that of the kubeconfig."""
    with contextlib.suppress(RolecallError, TimeoutError, OSError):
        return asyncio.run(_names_of(kind, namespace, environ))
    return []


def kind_names(kind: NamedKind) -> KindWords:
    gvk = kind.gvk
    return KindWords(
        gvk.kind,
        gvk.group,
        gvk.version,
        kind.plural,
        kind.singular,
        kind.short,
        kind.is_namespaced,
    )


async def _kinds_served(environ: Mapping[str, str]) -> list[KindWords]:
    async with (
        asyncio.timeout(_PATIENCE_S),
        Client(Credentials.load(environ), timeouts=_TIMEOUTS) as client,
    ):
        return [kind_names(each) for each in await named_kinds(client)]


async def _names_of(kind: KindWords, namespace: str, environ: Mapping[str, str]) -> list[str]:
    async with (
        asyncio.timeout(_PATIENCE_S),
        Client(Credentials.load(environ), timeouts=_TIMEOUTS) as client,
    ):
        place = namespace or client.credentials.namespace
        found = await client.list_all(Gvk(kind.group, kind.version, kind.kind), place)
        return [str(each["metadata"]["name"]) for each in found]
