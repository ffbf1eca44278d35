"""Whether the rights that engine and roles need are granted, asked of the API server one by one.

Asked are the rights that `rolecall rbac` would write. By default those of the kubeconfig are looked at,
as `rolecall run` on this machine would have them; `--as` asks about the operator's ServiceAccount. A
rules review was rejected: it is incomplete wherever something else than RBAC may grant.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall_dev.doctor.diagnosis import Diagnosis, done, not_looked, to_do
from rolecall_dev.doctor.surroundings import Surroundings
from rolecall_dev.rbac import RightsSources, derive

_REVIEWS = "authorization.k8s.io"
_AT_ONCE = 8
_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class _Asked:
    group: str
    resource: str
    verb: str
    namespace: str  # empty: all


async def look_at_rights(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line for all that are granted, else one for each resource."""
    client = (await surroundings.needed_cluster()).client
    if not surroundings.watches:
        return [not_looked("no kinds are known")]
    who = f"`{surroundings.user}`" if surroundings.user else "this kubeconfig"
    namespaces = surroundings.settings.reactor.namespaces or ("",)
    if await _may(client, _Asked("*", "*", "*", ""), surroundings.user):
        return [done(f"{who} may do everything")]
    sources = RightsSources(surroundings.project, surroundings.watches)
    derived = await asyncio.to_thread(derive, sources)
    asked = [
        _Asked(right.group, right.resource, right.verb, namespace)
        for right in derived.rights
        for namespace in namespaces
    ]
    settings = surroundings.settings
    home = settings.election.namespace or settings.namespace
    asked += [_Asked(right.group, right.resource, right.verb, home) for right in derived.own]
    gate = asyncio.Semaphore(_AT_ONCE)

    async def is_granted(one: _Asked) -> bool:
        async with gate:
            return await _may(client, one, surroundings.user)

    granted = await asyncio.gather(*map(is_granted, asked))
    lacking = [one for one, is_there in zip(asked, granted, strict=True) if not is_there]
    seen = _told(lacking, who)
    return seen or [done(f"{who} has the {len(asked)} that the operator and its roles need")]


def _told(lacking: Sequence[_Asked], who: str) -> list[Diagnosis]:
    rows: dict[tuple[str, str, str], list[str]] = {}
    for one in lacking:
        rows.setdefault((one.namespace, one.group, one.resource), []).append(one.verb)
    return [
        to_do(
            f"{who} may not {', '.join(verbs)} `{resource}{f'.{group}' if group else ''}`"
            f" in {f'namespace {namespace}' if namespace else 'all namespaces'}",
            "`rolecall rbac` writes the role; apply it, and bind it to the operator",
        )
        for (namespace, group, resource), verbs in rows.items()
    ]


async def _may(client: Client, asked: _Asked, user: str) -> bool:
    resource, _, subresource = asked.resource.partition("/")
    attributes = {
        "group": asked.group,
        "resource": resource,
        "subresource": subresource,
        "verb": asked.verb,
        "namespace": asked.namespace,
    }
    spec: dict[str, Any] = {"resourceAttributes": attributes}
    kind = "SelfSubjectAccessReview"
    if user:
        kind = "SubjectAccessReview"
        spec |= {"user": user, "groups": _groups_of(user)}
    gvk = Gvk(_REVIEWS, "v1", kind)
    body = {"apiVersion": gvk.api_version, "kind": kind, "metadata": {}, "spec": spec}
    answer = await client.create(gvk, body)
    return bool(answer.get("status", {}).get("allowed"))


def _groups_of(user: str) -> list[str]:
    if not user.startswith(_ACCOUNT):
        return ["system:authenticated"]
    namespace = user.removeprefix(_ACCOUNT).partition(":")[0]
    accounts = "system:serviceaccounts"
    return [accounts, f"{accounts}:{namespace}", "system:authenticated"]
