"""Which CRs `rolecall run-role` is about, as the operator would see them: from files, or the cluster.

One from the cluster is taken as it lives: where it is being deleted, what runs is its finalizer. One
from a file may not be there; then what the API server would have added is made up, and `--create`
applies the file first.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rolecall.clock import SystemClock
from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials, NotFoundError
from rolecall.reconcile import PAUSED_ANNOTATION
from rolecall.status import Started
from rolecall.watches import Watch
from rolecall_dev.cli.named_cr import NamedCr

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class FoundCr:
    """A CR whose role shall be run."""

    cr: dict[str, Any]
    watch: Watch
    notes: tuple[str, ...] = ()  # what the operator would do otherwise


async def read_named(
    named: list[NamedCr], namespace: str, environment: Mapping[str, str]
) -> list[FoundCr]:
    """Read CRs from the cluster; raises `InputError` for one that is not there."""
    async with Client(Credentials.load(environment)) as client:
        return [await read_with(client, one, namespace) for one in named]


async def create(
    crs: list[tuple[dict[str, Any], Watch]], environment: Mapping[str, str]
) -> list[str]:
    """Create those CRs that are not there; returns what was created."""
    created = []
    async with Client(Credentials.load(environment)) as client:
        for cr, watch in crs:
            if await _is_there(client, watch.gvk, cr):
                continue
            await client.create(watch.gvk, _to_create(cr))
            created.append(_place(watch.gvk, cr["metadata"]))
    return created


async def read_with(client: Client, named: NamedCr, namespace: str) -> FoundCr:
    """Read one; raises `InputError` where it is not there."""
    gvk = named.watch.gvk
    resource = await client.resource_for(gvk)
    where = namespace if resource.namespaced else ""
    try:
        cr = await client.get(gvk, where, named.name)
    except NotFoundError:
        raise await _missing(client, gvk, where, named.name) from None
    return FoundCr(cr, named.watch, tuple(_notes(cr)))


async def _missing(client: Client, gvk: Gvk, namespace: str, name: str) -> InputError:
    rows = await client.list_all(gvk)
    there = [_place(gvk, row["metadata"]) for row in rows[:_MOST_NAMED]]
    names = ", ".join(f"`{place}`" for place in there)
    place = _place(gvk, {"namespace": namespace, "name": name})
    more = f" and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
    return InputError(
        f"`{place}` is not in the cluster",
        hint=f"there is {names}{more}; `-n` chooses the namespace"
        if there
        else f"there is no {gvk.kind} at all; `--cr FILE` runs the role of one in a file",
    )


def _notes(cr: Mapping[str, Any]) -> list[str]:
    annotations = cr["metadata"].get("annotations") or {}
    if str(annotations.get(PAUSED_ANNOTATION, "")).lower() == "true":
        return ["it is paused, so the operator would not run it"]
    return []


async def _is_there(client: Client, gvk: Gvk, cr: Mapping[str, Any]) -> bool:
    metadata = cr["metadata"]
    try:
        await client.get(gvk, metadata.get("namespace", ""), metadata["name"])
    except NotFoundError:
        return False
    return True


def _to_create(cr: dict[str, Any]) -> dict[str, Any]:
    """Without what only the API server writes; a file may be a copy of what it returned."""
    served = {"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"}
    metadata = {key: value for key, value in cr["metadata"].items() if key not in served}
    return {**cr, "metadata": metadata}


def _place(gvk: Gvk, metadata: Mapping[str, Any]) -> str:
    namespace = metadata.get("namespace")
    return f"{gvk.kind}/{metadata['name']}" + (f" -n {namespace}" if namespace else "")


def as_the_operator_sees(cr: dict[str, Any], watch: Watch, *, is_finalizer: bool) -> dict[str, Any]:
    """The CR as it would come from the API server at this point of its life."""
    metadata = dict(cr["metadata"])
    if is_finalizer:
        if watch.finalizer is None:
            raise InputError(
                f"{watch.gvk.kind} has no finalizer, so nothing would run when one is deleted",
                hint=f"add `finalizer:` to the entry on line {watch.line} of watches.yaml",
            )
        names = [name for name in metadata.get("finalizers", []) if name != watch.finalizer.name]
        metadata["finalizers"] = [*names, watch.finalizer.name]
    now = SystemClock().now().strftime("%Y-%m-%dT%H:%M:%SZ")
    identity = f"{watch.gvk}/{metadata.get('namespace', '')}/{metadata['name']}"
    # What every object from the API server has, and roles rely on.
    metadata.setdefault("uid", str(uuid.uuid5(uuid.NAMESPACE_URL, identity)))
    metadata.setdefault("generation", 1)
    metadata.setdefault("creationTimestamp", now)
    if is_finalizer:
        metadata.setdefault("deletionTimestamp", now)
    spec = cr.get("spec")
    found = {**cr, "metadata": metadata, "spec": spec if isinstance(spec, dict) else {}}
    if watch.manage_status and not cr.get("status"):  # the engine writes it before the first run
        found["status"] = Started(has_ready=watch.ready_condition)(found, now)
    return found


def is_ending(found: FoundCr) -> bool:
    """Whether the operator would run its finalizer now."""
    metadata, finalizer = found.cr["metadata"], found.watch.finalizer
    if not metadata.get("deletionTimestamp") or finalizer is None:
        return False
    return finalizer.name in metadata.get("finalizers", ())
