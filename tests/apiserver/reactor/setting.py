"""What these tests have in common: kinds of their own, and a reactor that listens."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials, NotFoundError
from rolecall.reactor import DependentInformers, OwnWrites, Reactor
from rolecall.settings import ReactorSettings
from rolecall.watches import Watch
from tests.fixtures.crds import CRD, crd_for, create_kind
from tests.fixtures.eventually import eventually_async
from tests.unit.reactor.objects import Keys, Roll, watch

CONFIG_MAP = Gvk("", "v1", "ConfigMap")
NAMESPACE = Gvk("", "v1", "Namespace")
READ_CRDS = {
    "apiGroups": [CRD.group],
    "resources": ["customresourcedefinitions"],
    "verbs": ["list", "watch"],
}


@asynccontextmanager
async def client_for(kubeconfig: Path) -> AsyncIterator[Client]:
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as client:
        yield client


def new_group() -> str:
    return f"t{secrets.token_hex(3)}.example.com"


@asynccontextmanager
async def kind_of(
    client: Client, kind: str = "App", *, group: str = "", **form: Any
) -> AsyncIterator[Gvk]:
    """A custom kind that is served while the context lasts."""
    gvk = Gvk(group or new_group(), "v1", kind)
    crd = crd_for(gvk, **form)
    await create_kind(client, crd)
    try:
        yield gvk
    finally:
        with suppress(NotFoundError):
            await client.delete(CRD, "", crd["metadata"]["name"])


def body(gvk: Gvk, namespace: str, name: str, **rest: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, **rest.pop("metadata", {})}
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata, **rest}


@dataclass
class Following:
    """A reactor at work, and what came of it."""

    reactor: Reactor
    dependents: DependentInformers
    keys: Keys = field(default_factory=Keys)
    roll: Roll = field(default_factory=Roll)
    own_writes: OwnWrites = field(default_factory=OwnWrites)

    async def synced(self) -> None:
        await eventually_async(lambda: self.reactor.is_synced)

    async def brings(self, *names: str) -> None:
        """Wait for exactly these keys, and forget them."""
        await eventually_async(lambda: sorted(self.keys.names), lambda seen: seen == sorted(names))
        self.keys.added.clear()


@asynccontextmanager
async def follow(
    client: Client,
    watches: Sequence[Watch | Gvk],
    *,
    namespaces: tuple[str, ...] = (),
    silence_s: float = 300.0,
) -> AsyncIterator[Following]:
    """A reactor over some watches."""
    all_watches = [each if isinstance(each, Watch) else watch(each) for each in watches]
    settings = ReactorSettings(namespaces=namespaces, silence_s=silence_s)
    keys, roll = Keys(), Roll()
    own_writes = OwnWrites()
    reactor = Reactor(all_watches, client, keys, roll, own_writes=own_writes, settings=settings)
    dependents = DependentInformers(all_watches, client, keys, settings=settings)
    running = asyncio.create_task(reactor.run())
    try:
        yield Following(reactor, dependents, keys, roll, own_writes)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await dependents.close()
