"""What a plan has written so far: objects as they would be, over those that the cluster has.

An object is in here once the plan wrote it, with what was there before the first write. Nothing is in
here twice: identities are those of the API's paths, without the version, since the server keeps one
object whatever version it is read at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.plan.model import Certainty

NAMESPACES = ("", "namespaces")
# What is only planned was never stored, and so has no version; clients count on one.
_FIRST_VERSION = "1"


def versioned(found: Json) -> Json:
    """An object as a client gets it once it is stored."""
    metadata = {"resourceVersion": _FIRST_VERSION, **(found.get("metadata") or {})}
    return {**found, "metadata": metadata}


@dataclass(frozen=True, slots=True)
class ObjectIdentity:
    group: str
    plural: str
    namespace: str
    name: str

    @property
    def is_event(self) -> bool:
        return self.plural == "events" and self.group in ("", "events.k8s.io")


@dataclass(slots=True)
class Overlaid:
    """One object, as the plan has it."""

    identity: ObjectIdentity
    version: str  # of the API, in which it is kept here
    before: Json | None
    now: Json | None  # None: deleted
    certainty: Certainty = Certainty.EXACT
    why: str = ""
    written_at_s: list[float] = field(default_factory=list)
    # The field manager, where all writes were applies of one; else empty.
    applied_by: str = ""
    is_name_made_up: bool = False

    @property
    def gvk(self) -> Gvk:
        shown = self.now or self.before or {}
        return Gvk(self.identity.group, self.version, str(shown.get("kind") or ""))

    def doubt(self, certainty: Certainty, why: str) -> None:
        """It is less sure than it was; the first reason stays."""
        order = list(Certainty)
        if order.index(certainty) > order.index(self.certainty):
            self.certainty, self.why = certainty, why


class Overlay:
    def __init__(self) -> None:
        self._by_identity: dict[ObjectIdentity, Overlaid] = {}

    def __iter__(self) -> Iterator[Overlaid]:
        return iter(self._by_identity.values())

    def find(self, identity: ObjectIdentity) -> Overlaid | None:
        return self._by_identity.get(identity)

    def put(self, overlaid: Overlaid) -> None:
        self._by_identity[overlaid.identity] = overlaid

    def in_scope(self, group: str, plural: str, namespace: str) -> list[Overlaid]:
        """All of a kind, in one namespace or (empty) in all."""
        return [
            each
            for each in self
            if (each.identity.group, each.identity.plural) == (group, plural)
            and namespace in ("", each.identity.namespace)
        ]

    def namespace(self, name: str) -> Overlaid | None:
        """What the plan did to a namespace."""
        return self.find(ObjectIdentity(*NAMESPACES, "", name))

    def is_new_namespace(self, name: str) -> bool:
        """Whether a namespace is there in the plan alone."""
        found = self.namespace(name) if name else None
        return found is not None and found.before is None and found.now is not None

    def is_gone_with_namespace(self, name: str) -> bool:
        """Whether a namespace was deleted, and so all in it."""
        found = self.namespace(name) if name else None
        return found is not None and found.now is None

    def names_only_here(self) -> set[str]:
        """Names of objects that the cluster does not have yet."""
        return {each.identity.name for each in self if each.before is None and each.now is not None}
