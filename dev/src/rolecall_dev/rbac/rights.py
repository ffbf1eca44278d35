"""A right: one verb on one resource, the reasons why it is needed, and how far it reaches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

# A right: one verb on one resource, and the reasons why it is needed.

# As people read them: looking first, then making, changing, removing.
_ORDER = ("get", "list", "watch", "create", "patch", "update", "delete", "deletecollection")


@dataclass(frozen=True, order=True, slots=True)
class Right:
    """One verb on one resource; `resource` may name a subresource, as in `pods/exec`."""

    group: str
    resource: str
    verb: str

    def __str__(self) -> str:
        """As messages name it: `patch deployments.apps`, `get pods`, `create pods/exec`."""
        name, slash, sub = self.resource.partition("/")
        return f"{self.verb} {name}{f'.{self.group}' if self.group else ''}{slash}{sub}"


@dataclass(slots=True)
class Rights:
    """A set of rights, each with its reasons."""

    reasons: dict[Right, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, group: str, resource: str, verbs: Iterable[str], reason: str) -> None:
        """Need these verbs on a resource."""
        for verb in verbs:
            reasons = self.reasons[Right(group, resource, verb)]
            if reason not in reasons:
                reasons.append(reason)

    def __contains__(self, right: Right) -> bool:
        return right in self.reasons

    def __iter__(self) -> Iterator[Right]:
        return iter(sorted(self.reasons))

    def by_resource(self) -> dict[tuple[str, str], list[str]]:
        """(group, resource) -> verbs, everything in a fixed order."""
        found: dict[tuple[str, str], list[str]] = {}
        for right in self:
            found.setdefault((right.group, right.resource), []).append(right.verb)
        return {key: sorted(verbs, key=_rank) for key, verbs in found.items()}

    def of(self, wanted: Callable[[Right], bool]) -> Rights:
        """Those that are wanted, with their reasons."""
        found = Rights()
        found.reasons.update({it: self.reasons[it] for it in self if wanted(it)})
        return found

    def reasons_for(self, group: str, resource: str) -> list[str]:
        """Why any verb on a resource is needed, each reason once."""
        rows = [self.reasons[it] for it in self if (it.group, it.resource) == (group, resource)]
        return sorted({reason for row in rows for reason in row})


def _rank(verb: str) -> tuple[int, str]:
    return (_ORDER.index(verb) if verb in _ORDER else len(_ORDER), verb)


# Rights that reach farther than their names say, and what a reviewer should know of them.

# Of the core group; `get` is what the WebSocket of the same request needs.
_INTO_PODS = ("pods/exec", "pods/attach")
COMMENT = (
    "Near to admin: a command in a pod reads the pod's Secrets and volumes and acts with its token.",
    "In a ClusterRole: in every pod of the cluster.",
)


def reaches_into_pods(group: str, resource: str) -> bool:
    """Whether it lets commands run in other people's containers."""
    return not group and resource in _INTO_PODS


def warnings_of(rights: Rights, *, is_cluster_wide: bool) -> list[str]:
    """One for each right that a reviewer should not pass by."""
    reach = "all namespaces" if is_cluster_wide else "the namespaces where the Role is bound"
    return [
        f"`{resource}` is near to admin of all pods in {reach}: with the operator's token one can run"
        f" commands in them, read their Secrets and volumes, and act with their tokens;"
        f" needed by {', '.join(rights.reasons_for('', resource)[:3])}"
        for resource in _INTO_PODS
        if any(Right("", resource, verb) in rights for verb in ("get", "create"))
    ]
