"""How a role that is run by hand meets the cluster: as the operator's plays do, where the CR is there.

Then the play sees the CR as it lives, with its uid and status, and reaches the API server through a
proxy of its own, so that what it creates is owned. A CR that is only in a file can own nothing; its
play uses the user's kubeconfig as it is.

The spec is that of the file, over what the API server knows: fields that it defaulted stay, and an edit
of the file can be tried before it is applied.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials, NoSuchKindError, NotFoundError
from rolecall.proxy import Proxy
from rolecall.runner import RunRequest
from rolecall.settings import ProxySettings


@asynccontextmanager
async def access_for(
    request: RunRequest, environment: Mapping[str, str]
) -> AsyncIterator[tuple[RunRequest, str]]:
    """The request as it shall be run, and why what it creates is not owned (empty: it is)."""
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(Client(Credentials.load(environment)))
            live = await _find(client, request)
        except ClusterError as error:
            # A role that needs no cluster runs all the same; one that does will say it better.
            yield request, error.message
            return
        if live is None:
            yield request, "the CR is not in the cluster"
            return
        proxy = Proxy(ProxySettings(port=0), client, dependents=Nobody())
        await proxy.start()
        stack.push_async_callback(proxy.stop)
        cr = _merged(request.cr, live)
        lease = proxy.lease(request.run_id, cr, request.watch)
        access = await stack.enter_async_context(lease)
        yield (
            replace(
                request,
                cr=cr,
                kubeconfig=access.kubeconfig,
                modules_kubeconfig=access.modules_kubeconfig,
            ),
            "",
        )


class Nobody:
    """No operator runs, so nobody follows what the play makes."""

    def note(self, owner: Gvk, dependent: Gvk, *, by_annotation: bool, namespace: str) -> None:
        """A dependent was seen."""

    def note_own_write(self, uid: str, resource_version: str) -> None:
        """The play wrote it."""


async def _find(client: Client, request: RunRequest) -> dict[str, Any] | None:
    metadata = request.cr["metadata"]
    try:
        return await client.get(request.watch.gvk, metadata.get("namespace", ""), metadata["name"])
    except (NotFoundError, NoSuchKindError):
        return None


def _merged(file: dict[str, Any], live: dict[str, Any]) -> dict[str, Any]:
    ending = ("finalizers", "deletionTimestamp")  # what `--finalizer` pretends
    pretended = {key: file["metadata"][key] for key in ending if key in file["metadata"]}
    return {
        **live,
        "metadata": {**live["metadata"], **pretended},
        "spec": {**live.get("spec", {}), **file["spec"]},
    }
