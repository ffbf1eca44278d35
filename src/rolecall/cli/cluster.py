"""What commands ask of the cluster of the kubeconfig, and how they name it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping

from rolecall.cli.kind_words import KindWords
from rolecall.cli.terminal import say
from rolecall.errors import RolecallError
from rolecall.kube import Client, Credentials, NamedKind, Timeouts, named_kinds

_TIMEOUTS = Timeouts(connect_s=1.0, total_s=2.0)
_PATIENCE_S = 2.0


def say_cluster(credentials: Credentials) -> None:
    """On stderr, first of all: a forgotten kubeconfig leads elsewhere."""
    say(f"cluster: {credentials.target}")


def kinds_served(environ: Mapping[str, str]) -> list[KindWords]:
    """All kinds; none where the cluster cannot be asked."""
    with contextlib.suppress(RolecallError, TimeoutError, OSError):
        return asyncio.run(_kinds_served(environ))
    return []


def names_of(kind: KindWords, namespace: str, environ: Mapping[str, str]) -> list[str]:
    """The names of a kind's objects, in a namespace or in that of the kubeconfig."""
    with contextlib.suppress(RolecallError, TimeoutError, OSError):
        return asyncio.run(_names_of(kind, namespace, environ))
    return []


async def kinds_in(client: Client) -> list[KindWords]:
    """Raises `ClusterError`."""
    return [_kind_words(each) for each in await named_kinds(client)]


def _kind_words(kind: NamedKind) -> KindWords:
    names = (kind.plural, kind.singular, kind.short, kind.is_namespaced)
    return KindWords(kind.gvk.kind, kind.gvk.group, kind.gvk.version, *names)


async def _kinds_served(environ: Mapping[str, str]) -> list[KindWords]:
    async with (
        asyncio.timeout(_PATIENCE_S),
        Client(Credentials.load(environ), timeouts=_TIMEOUTS) as client,
    ):
        return await kinds_in(client)


async def _names_of(kind: KindWords, namespace: str, environ: Mapping[str, str]) -> list[str]:
    async with (
        asyncio.timeout(_PATIENCE_S),
        Client(Credentials.load(environ), timeouts=_TIMEOUTS) as client,
    ):
        place = namespace or client.credentials.namespace
        found = await client.list_all(kind.gvk, place)
        return [str(each["metadata"]["name"]) for each in found]
