"""Which writes a webhook is asked about, as far as that can be told without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rolecall.json_object import Json
from rolecall.kube import ForbiddenError, named_kinds
from rolecall.watches import Requirement, Selector
from rolecall_dev.doctor.surroundings import Surroundings

WrittenResource = tuple[str, str]  # group and plural

_NAME = "kubernetes.io/metadata.name"  # on every namespace, by the API server
_NAMESPACES = ("", "namespaces")  # whose own labels count
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Reach:
    """What of the written resources a webhook is asked about."""

    resources: set[WrittenResource]
    is_certain: bool
    where: str = ""  # " in namespace `a`", where it is not everywhere


@dataclass(frozen=True, slots=True)
class WatchedPlaces:
    """Where the operator works: its namespaces with their labels, and what is in none."""

    labels: Mapping[str, Mapping[str, str]] | None  # None: they may not be read
    of_no_namespace: set[WrittenResource]

    @classmethod
    async def read(cls, surroundings: Surroundings) -> WatchedPlaces:
        client = (await surroundings.needed_cluster()).client
        kinds = await named_kinds(client)
        # A CRD that was installed a moment ago is not told yet, and most kinds are in namespaces.
        wide = {(each.gvk.group, each.plural) for each in kinds if not each.is_namespaced}
        try:
            listed = await surroundings.read("/api/v1/namespaces")
        except ForbiddenError:
            return cls(None, wide)
        found = {
            item["metadata"]["name"]: item["metadata"].get("labels") or {}
            for item in listed.get("items", ())
        }
        wanted = surroundings.settings.reactor.namespaces or tuple(found)
        return cls({name: found.get(name, {_NAME: name}) for name in wanted}, wide)

    def reach(self, webhook: Json, met: set[WrittenResource]) -> Reach:
        """Of what its rules name, what its selectors leave."""
        is_certain = not (webhook.get("objectSelector") or webhook.get("matchConditions"))
        selector = webhook.get("namespaceSelector") or {}
        if not selector:
            return Reach(met, is_certain)
        is_certain = is_certain and _NAMESPACES not in met
        if self.labels is None:
            return Reach(met, is_certain and met <= self.of_no_namespace)
        wanted = _selector(selector)
        chosen = [name for name, labels in self.labels.items() if wanted.selects(labels)]
        if not chosen:
            return Reach(met & self.of_no_namespace, is_certain)
        is_everywhere = len(chosen) == len(self.labels) or bool(met & self.of_no_namespace)
        return Reach(met, is_certain, "" if is_everywhere else _where(chosen))


def _where(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f" in {shown}{more}"


def _selector(written: Json) -> Selector:
    rows = [
        Requirement(row["key"], row["operator"], tuple(row.get("values") or ()))
        for row in written.get("matchExpressions") or ()
    ]
    return Selector(written.get("matchLabels") or {}, tuple(rows))
