"""How a role that is run by hand meets the cluster: as the operator's plays do, where the CR is there.

Then the play sees the CR as it lives, with its uid and status, and reaches the API server through a
proxy of its own, so that what it creates is owned. A CR that is only in a file can own nothing; its
play goes through the proxy all the same, so that one rule says which certificates are trusted.

The spec is that of the file, over what the API server knows: fields that it defaulted stay, and an edit
of the file can be tried before it is applied. The API server is asked by a dry run whether it would
store the result; what it calls invalid is not played, as with `plan --cr`.

One proxy serves all runs of a command: Ansible's modules keep what they learned of the API's kinds by
the address that they learned it from.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, Self

from rolecall.clock import SystemClock
from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import (
    Client,
    Credentials,
    NoSuchKindError,
    NotFoundError,
    TlsError,
    UnprocessableError,
)
from rolecall.proxy import Proxy
from rolecall.runner import SpecKeys, folder_of_engine
from rolecall.settings import ProxySettings
from rolecall_dev.cli.role_output import RoleRequest, subject

_METADATA = ("name", "namespace", "labels", "annotations")
_NOT_THERE = "is not in the cluster; `--create` applies it first"


class RoleAccess:
    """The cluster of the user's kubeconfig, for runs one after the other."""

    def __init__(
        self,
        environment: Mapping[str, str],
        on_unowned: Callable[[str], None],
        proxy: ProxySettings,
    ) -> None:
        self._environment = environment
        self._proxy = proxy
        self._printed_events = _PrintedEvents(on_unowned)
        self._open = AsyncExitStack()
        self._reached: tuple[Client, Proxy] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    @asynccontextmanager
    async def of(self, request: RoleRequest) -> AsyncIterator[tuple[RoleRequest, str]]:
        """The request as it shall be run, and why what it creates is not owned (empty: it is)."""
        try:
            client, proxy = await self._reach()
            live = await _find(client, request)
            await _check_validity(client, request, live)
        except (TlsError, UnprocessableError):
            # The play's own libraries would refuse such a server as well, in their words; and the
            # operator never gets a CR that the API server does not store.
            raise
        except ClusterError as error:
            # A role that needs no cluster runs all the same; one that does will say it better.
            yield request, str(error)
            return
        cr = request.cr if live is None else _merged(request.cr, live)
        owner = _without_uid(cr) if live is None else cr
        withheld = await SpecKeys(client, SystemClock()).withheld(
            request.watch, cr, is_finalizer=request.is_finalizer
        )
        if withheld.message:
            self._printed_events.record(
                cr, kind="Warning", reason="KeysWithheld", message=withheld.message
            )
        async with proxy.issue_access(request.run_id, owner, request.watch) as access:
            yield (
                replace(
                    request,
                    cr=cr,
                    kubeconfig=access.kubeconfig,
                    withheld=withheld.keys,
                    seen_secrets=access.seen_secrets,
                ),
                "" if live is not None else f"{subject(request)} {_NOT_THERE}",
            )

    async def _reach(self) -> tuple[Client, Proxy]:
        if self._reached is None:
            credentials = Credentials.load(self._environment)
            client = await self._open.enter_async_context(Client(credentials))
            folder = self._open.enter_context(folder_of_engine())
            settings = replace(self._proxy, port=0, folder=folder, record=None)
            proxy = Proxy(
                settings, client, dependents=IgnoredDependents(), events=self._printed_events
            )
            await proxy.start()
            self._open.push_async_callback(proxy.stop)
            self._reached = (client, proxy)
        return self._reached


class _PrintedEvents:
    """Prints for the user what the operator would post as Events on the CR."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def record(self, cr: dict[str, Any], *, kind: str, reason: str, message: str) -> None:  # noqa: ARG002 - a port
        """Say it."""
        self._say(message)


class IgnoredDependents:
    """Ignores the dependents of plays, because no operator runs that would watch them."""

    def note(self, owner: Gvk, dependent: Gvk, *, by_annotation: bool, namespace: str) -> None:
        """A dependent was seen."""

    def note_asked(self, *_: object) -> None:
        """A run asked for an object."""

    def note_own_write(self, uid: str, resource_version: str) -> None:
        """The play wrote it."""


async def _find(client: Client, request: RoleRequest) -> dict[str, Any] | None:
    metadata = request.cr["metadata"]
    try:
        return await client.get(request.watch.gvk, metadata.get("namespace", ""), metadata["name"])
    except (NotFoundError, NoSuchKindError):
        return None


async def _check_validity(
    client: Client, request: RoleRequest, live: dict[str, Any] | None
) -> None:
    """Raise `UnprocessableError` where the API server would not store the CR.

    What else it answers, such as for want of a right, is about the dry run and not about the CR.
    """
    gvk, metadata = request.watch.gvk, request.cr["metadata"]
    name, namespace = metadata["name"], metadata.get("namespace", "")
    spec = request.cr.get("spec") or {}
    try:
        if live is None:
            kept = {key: metadata[key] for key in _METADATA if key in metadata}
            whole = {
                "apiVersion": gvk.api_version,
                "kind": gvk.kind,
                "metadata": kept,
                "spec": spec,
            }
            await client.create(gvk, whole, is_trial=True)
        elif spec != live.get("spec", {}):
            await client.merge_patch(gvk, namespace, name, {"spec": spec}, is_trial=True)
    except UnprocessableError:
        raise
    except ClusterError:
        return


def _without_uid(cr: dict[str, Any]) -> dict[str, Any]:
    """The CR without a UID, as the proxy knows a missing owner; the play gets a generated UID."""
    return {**cr, "metadata": {**cr["metadata"], "uid": ""}}


def _merged(file: dict[str, Any], live: dict[str, Any]) -> dict[str, Any]:
    ending = ("finalizers", "deletionTimestamp")  # what `--finalizer` pretends
    pretended = {key: file["metadata"][key] for key in ending if key in file["metadata"]}
    return {
        **live,
        "metadata": {**live["metadata"], **pretended},
        "spec": {**live.get("spec", {}), **file["spec"]},
    }
