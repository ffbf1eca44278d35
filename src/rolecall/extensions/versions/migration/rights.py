"""What a migration may not do, told before it begins instead of after a thousand objects."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.extensions.versions.migration.stored import CRD_GVK, StoredKind
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client

_REVIEW = Gvk("authorization.k8s.io", "v1", "SelfSubjectAccessReview")
_CRDS = "customresourcedefinitions"


async def lacking_rights(client: Client, kind: StoredKind, *, is_trial: bool) -> Sequence[str]:
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
