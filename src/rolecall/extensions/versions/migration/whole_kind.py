"""The whole migration of one kind: passes over its objects, then a cut of the list of stored versions.

A pass counts only if the CRD had the same generation from its beginning to its end. Otherwise the API
server may have stored another version for a while, and migrated objects may be at that version again.
So we repeat passes until one counts; the second one writes little, because most objects are done. The
write that cuts the list fails if the CRD changed since the last read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rolecall.clock import Clock, SystemClock
from rolecall.errors import ClusterError
from rolecall.extensions.versions.migration.rewrite import (
    MigrationCounts,
    OnProgress,
    Refused,
    Rewriter,
)
from rolecall.extensions.versions.migration.stored import (
    CRD_GVK,
    StoredKind,
    read_stored,
    stores_at,
)
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, ConflictError

_REVIEW = Gvk("authorization.k8s.io", "v1", "SelfSubjectAccessReview")
_CRDS = "customresourcedefinitions"
_MOST_PASSES = 5
_SETTLES_IN_S = 60.0
_LOOK_AGAIN_S = 0.5
_WRITES = 5


class MigrationError(ClusterError):
    """Objects of older versions may be stored still; the CRD says so as before."""

    def __init__(self, message: str, *, hint: str = "", refused: Sequence[Refused] = ()) -> None:
        super().__init__(message, hint=hint)
        self.refused = refused


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast, on which clock, and the callback for progress."""

    per_second: float = 0.0  # writes; 0: as fast as the API server answers
    clock: Clock = SystemClock()  # noqa: RUF009 - has no state
    on_progress: OnProgress = lambda _: None


@dataclass(frozen=True, slots=True)
class Migrated:
    """What a migration came to; of one that was only tried, what it would come to."""

    kind: StoredKind
    counts: MigrationCounts
    dropped: Sequence[str] = ()  # versions that are stored no more


async def tried(client: Client, crd: str, pace: Pace) -> Migrated:
    """Let the API server judge each object as if it were rewritten; stores nothing."""
    kind = await read_stored(client, crd)
    await _require_rights(client, kind, is_trial=True)
    rewriter = Rewriter(client, pace.clock, pace.per_second, True, pace.on_progress)
    return Migrated(kind, await rewriter.run(kind), kind.older)


async def migrate(client: Client, crd: str, pace: Pace) -> Migrated:
    """Rewrite what may be stored at older versions, then cut the list of versions down.

    Raises `MigrationError` where objects are left, and the errors of `kube`.
    """
    kind = await read_stored(client, crd)
    if not kind.older:
        return Migrated(kind, MigrationCounts())
    await _require_rights(client, kind, is_trial=False)
    total = MigrationCounts()
    for _ in range(_MOST_PASSES):
        await _settled(client, kind, pace.clock)
        rewriter = Rewriter(client, pace.clock, pace.per_second, False, pace.on_progress)
        progress = await rewriter.run(kind)
        total = MigrationCounts(
            progress.seen, total.rewritten + progress.rewritten, progress.refused
        )
        _refuse_left(kind, progress)
        before, kind = kind, await read_stored(client, crd)
        _require_same_storage(before, kind)
        if kind.generation == before.generation:
            return Migrated(kind, total, await _cut(client, kind))
    raise MigrationError(
        f"`{crd}` changed during each of {_MOST_PASSES} passes over its objects, so the version at"
        " which all of them are stored is unknown",
        hint="find out who keeps changing it: `kubectl get crd -o yaml --show-managed-fields`",
    )


async def _require_rights(client: Client, kind: StoredKind, *, is_trial: bool) -> None:
    lacking = await _lacking_rights(client, kind, is_trial=is_trial)
    if lacking:
        raise MigrationError(
            f"`{kind.crd}` was not migrated: rights are missing in all namespaces, for"
            f" {client.credentials.target}",
            hint="give a ClusterRole these rules:\n" + "\n".join(f"  - {rule}" for rule in lacking),
        )


async def _lacking_rights(client: Client, kind: StoredKind, *, is_trial: bool) -> Sequence[str]:
    """The rules that are missing, as a role has them."""
    wanted: list[Json] = [
        {"verb": "list", "group": kind.group, "resource": kind.plural},
        {"verb": "patch", "group": kind.group, "resource": kind.plural},
    ]
    if not is_trial:
        wanted.append(
            {
                "verb": "patch",
                "group": CRD_GVK.group,
                "resource": _CRDS,
                "subresource": "status",
                "name": kind.crd,
            }
        )
    return [_rule(each) for each in wanted if not await _may(client, each)]


async def _may(client: Client, attributes: Json) -> bool:
    body = {
        "apiVersion": _REVIEW.api_version,
        "kind": _REVIEW.kind,
        "metadata": {},
        "spec": {"resourceAttributes": attributes},
    }
    review = await client.create(_REVIEW, body)
    return bool((review.get("status") or {}).get("allowed"))


def _rule(wanted: Json) -> str:
    resource = "/".join(filter(None, (wanted["resource"], wanted.get("subresource"))))
    names = f", resourceNames: [{wanted['name']}]" if "name" in wanted else ""
    return (
        f'{{apiGroups: ["{wanted["group"]}"], resources: [{resource}]{names},'
        f" verbs: [{wanted['verb']}]}}"
    )


async def _settled(client: Client, kind: StoredKind, clock: Clock) -> None:
    """Wait until the API server stores at the version; discovery says so a moment before it does."""
    ends = clock.monotonic() + _SETTLES_IN_S
    while not await stores_at(client, kind):
        if clock.monotonic() > ends:
            raise MigrationError(
                f"the API server does not store `{kind.crd}` at `{kind.storage}` yet, though its CRD"
                f" has said so for {_SETTLES_IN_S:g} s",
                hint="read the conditions of the CRD: `kubectl describe crd " + kind.crd + "`",
            )
        await clock.sleep(_LOOK_AGAIN_S)
    await clock.sleep(_LOOK_AGAIN_S)


def _refuse_left(kind: StoredKind, counts: MigrationCounts) -> None:
    if not counts.refused:
        return
    versions = ", ".join(f"`{version}`" for version in kind.older)
    many = ", and no more were tried" if counts.is_hopeless else ""
    raise MigrationError(
        f"objects of `{kind.crd}` could not be stored at `{kind.storage}`:"
        f" {len(counts.refused)}{many}; so {versions} must stay in the CRD",
        hint="mend or delete them, and begin again: what is done is not done twice",
        refused=counts.refused,
    )


def _require_same_storage(before: StoredKind, now: StoredKind) -> None:
    if before.storage != now.storage:
        raise MigrationError(
            f"the storage version of `{now.crd}` was changed from `{before.storage}` to"
            f" `{now.storage}` while its objects were rewritten, so none was dropped",
            hint="begin again once the CRD stays as it is",
        )


async def _cut(client: Client, kind: StoredKind) -> Sequence[str]:
    """Say in the CRD that only its storage version is stored."""
    dropped, generation = kind.older, kind.generation
    for _ in range(_WRITES):
        patch = {
            "metadata": {"resourceVersion": kind.resource_version},
            "status": {"storedVersions": [kind.storage]},
        }
        try:
            await client.merge_patch(CRD_GVK, "", kind.crd, patch, subresource="status")
        except ConflictError:
            kind = await read_stored(client, kind.crd)
            if kind.generation != generation:
                break
        else:
            return dropped
    raise MigrationError(
        f"`{kind.crd}` was changed right after its objects were rewritten, so that"
        f" {', '.join(f'`{each}`' for each in dropped)} still counts as stored",
        hint="begin again: what is done is not done twice",
    )
