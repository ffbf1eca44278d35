"""Which namespaces of a kind may be heard, asked before trying.

A refused stream ends kopf for all namespaces of its kind, so those that would be refused are left out.
The refusal is the sentence that a person reads, with the rule to add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rolecall.kube import Client, ForbiddenError, Resource, Target

_VERBS = ("list", "watch")


@dataclass(frozen=True, slots=True)
class Rights:
    """What may be heard (`""`: all namespaces), and the first refusal."""

    namespaces: tuple[str, ...]
    refusal: ForbiddenError | None


async def rights_to_hear(client: Client, resource: Resource, wanted: Sequence[str]) -> Rights:
    """Ask for each wanted namespace, or for all of them where none is named."""
    allowed: list[str] = []
    refusal: ForbiddenError | None = None
    for namespace in wanted or [""]:
        denied = [verb for verb in _VERBS if not await client.may(verb, resource.gvk, namespace)]
        if not denied:
            allowed.append(namespace)
        elif refusal is None:
            refusal = _refusal(resource, namespace, denied)
    return Rights(tuple(allowed), refusal)


def _refusal(resource: Resource, namespace: str, verbs: Sequence[str]) -> ForbiddenError:
    target = Target(", ".join(verbs), resource, namespace)
    where = f"in namespace `{namespace}`" if namespace else "in all namespaces"
    way_out = f"add `{target.verb}` on `{target.rbac_name}` to config/rbac/role.yaml"
    return ForbiddenError(
        f"not allowed to {target.verb} `{target.rbac_name}` {where}, so no {resource.gvk.kind} there"
        " will be reconciled",
        code=403,
        target=target,
        hint=way_out if namespace else f"{way_out}, or set WATCH_NAMESPACE",
    )
