"""The CRs whose runs may have written an object: itself, and those that it names as owners."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rolecall.json_object import Json
from rolecall.kube import OWNER_ANNOTATION, OWNER_TYPE_ANNOTATION


@dataclass(frozen=True, slots=True)
class CrName:
    """A CR as an object names it; the namespace of one that is cluster-scoped is not looked at."""

    kind: str
    group: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.lower()}/{self.name}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def crs_behind(document: Json) -> list[CrName]:
    """The object itself first."""
    metadata = document["metadata"]
    namespace = str(metadata.get("namespace") or "")
    group = str(document["apiVersion"]).rpartition("/")[0]
    found = [CrName(str(document["kind"]), group, namespace, str(metadata["name"]))]
    for each in metadata.get("ownerReferences") or ():
        owner_group = str(each.get("apiVersion") or "").rpartition("/")[0]
        found.append(CrName(str(each["kind"]), owner_group, namespace, str(each["name"])))
    annotations = metadata.get("annotations") or {}
    named, kind = annotations.get(OWNER_ANNOTATION), annotations.get(OWNER_TYPE_ANNOTATION)
    if isinstance(named, str) and isinstance(kind, str):
        place, _, name = named.rpartition("/")
        word, _, owner_group = kind.partition(".")
        found.append(CrName(word, owner_group, place, name))
    return list(dict.fromkeys(found))
