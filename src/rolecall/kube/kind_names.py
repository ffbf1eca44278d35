"""All kinds that a server has, with the names that people give them; one document for all groups.

For a person's words, once. The engine asks for the groups that it needs (see `discovery`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube.client import Client
from rolecall.kube.errors import Target, UnavailableError, error_for
from rolecall.kube.later import aiohttp

_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
_ACCEPT = ", ".join((_DISCOVERY.format("v2"), _DISCOVERY.format("v2beta1")))


@dataclass(frozen=True, slots=True)
class NamedKind:
    """A kind in the version that the server prefers, and how it may be called."""

    gvk: Gvk
    plural: str
    singular: str
    short: tuple[str, ...]
    is_namespaced: bool


async def named_kinds(client: Client) -> list[NamedKind]:
    """Every kind; raises `ClusterError`s."""
    core, groups = await asyncio.gather(_read(client, "/api"), _read(client, "/apis"))
    return [*_kinds(core), *_kinds(groups)]


async def _read(client: Client, path: str) -> Json:
    target = Target("get", path=path)
    headers = {"Accept": _ACCEPT, "Accept-Encoding": "identity"}
    try:
        async with client.request_raw("GET", path, headers=headers) as response:
            body = await response.read()
            if response.status >= 400:
                raise error_for(target, response.status, body)
            document: Json = json.loads(body)
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as failure:
        raise UnavailableError(f"could not get `{path}`: {failure}") from failure
    return document


def _kinds(document: Json) -> Iterator[NamedKind]:
    for group in document.get("items") or []:
        seen: set[str] = set()
        for version in group.get("versions") or []:  # the preferred one is first
            for row in version.get("resources") or []:
                with contextlib.suppress(KeyError, TypeError):
                    if row["resource"] not in seen:
                        seen.add(row["resource"])
                        yield _kind(group["metadata"].get("name", ""), version["version"], row)


def _kind(group: str, version: str, row: Json) -> NamedKind:
    return NamedKind(
        Gvk(group, version, str(row["responseKind"]["kind"])),
        str(row["resource"]),
        str(row.get("singularResource") or ""),
        tuple(map(str, row.get("shortNames") or ())),
        row.get("scope") == "Namespaced",
    )
