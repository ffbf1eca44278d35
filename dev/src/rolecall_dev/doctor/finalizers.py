"""Custom resources that nobody could delete any more, once the operator is gone.

The operator puts its finalizer on them and takes it away when its last run has succeeded. Without an
operator it stays, the CR stays, and so does its namespace.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from rolecall.json_object import Json
from rolecall.kube import NoSuchKindError
from rolecall.watches import Watch
from rolecall_dev.doctor.diagnosis import Diagnosis, done, not_looked, to_do
from rolecall_dev.doctor.engines import running_engines
from rolecall_dev.doctor.surroundings import Surroundings

_SHOWN = 10  # of one kind, one by one


async def look_at_finalizers(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line for each CR that has the finalizer of its kind."""
    await surroundings.needed_cluster()
    if not surroundings.watches:
        return [not_looked("no kinds are known")]
    engines = await running_engines(surroundings)
    seen: list[Diagnosis] = []
    for watch in surroundings.watches:
        seen += await _of_kind(surroundings, watch, is_served=bool(engines))
    return seen or [done("no CR has one that needs the operator")]


async def _of_kind(surroundings: Surroundings, watch: Watch, *, is_served: bool) -> list[Diagnosis]:
    if watch.finalizer is None:
        return []
    client = (await surroundings.needed_cluster()).client
    try:
        plural = (await client.resource_for(watch.gvk)).plural
        crs = await client.list_all(watch.gvk)
    except NoSuchKindError:
        return []
    resource, kind, name = f"{plural}.{watch.gvk.group}", watch.gvk.kind, watch.finalizer.name
    held = [cr for cr in crs if name in (cr["metadata"].get("finalizers") or ())]
    seen = [_told(cr, kind, resource, name, is_served=is_served) for cr in held[:_SHOWN]]
    if len(held) > _SHOWN:
        more = f"`kubectl get {resource} --all-namespaces` lists them"
        seen.append(to_do(f"{len(held) - _SHOWN} more {kind} have it", more))
    return seen


def _told(cr: Json, kind: str, resource: str, finalizer: str, *, is_served: bool) -> Diagnosis:
    metadata = cr["metadata"]
    namespace, name = metadata.get("namespace", ""), metadata["name"]
    what = f"{kind} {f'{namespace}/' if namespace else ''}{name}"
    at = f"{resource} {name}{f' -n {namespace}' if namespace else ''}"
    if metadata.get("deletionTimestamp"):
        what += ", which is being deleted,"
    if is_served:
        return to_do(
            f"{what} has the finalizer `{finalizer}`; without the operator nobody would take it away,"
            " and its namespace could never be deleted",
            f"while the operator runs: `kubectl delete {at}`",
        )
    return to_do(
        f"{what} has the finalizer `{finalizer}`, and no operator runs in the cluster to take it away",
        "start the operator again, or here with `rolecall run`, and delete it; or give up what the"
        f" finalizer would do: `kubectl patch {at} --type=json -p '{_patch(metadata, finalizer)}'`",
    )


def _patch(metadata: Json, finalizer: str) -> str:
    """Takes away this one alone, and only where it still stands at its place."""
    path = f"/metadata/finalizers/{metadata['finalizers'].index(finalizer)}"
    steps = [
        {"op": "test", "path": path, "value": finalizer},
        {"op": "remove", "path": path},
    ]
    return json.dumps(steps, separators=(",", ":"))
