"""What a dependent looks like in one or two words: `PVC Bound`, `Deployment 3/3`.

Only kinds whose state can be said that shortly are shown; a ReplicaSet between a Deployment and its
pods would tell nobody anything.
"""

from __future__ import annotations

from collections.abc import Callable

from rolecall.gvk import Gvk
from rolecall.json_object import Json


def _phase(obj: Json) -> str:
    return str(obj.get("status", {}).get("phase", "Pending"))


def _ready_of_wanted(obj: Json) -> str:
    wanted = obj.get("spec", {}).get("replicas", 1)
    return f"{obj.get('status', {}).get('readyReplicas', 0)}/{wanted}"


def _nothing(_obj: Json) -> str:
    return ""


SHOWN: dict[Gvk, tuple[str, Callable[[Json], str]]] = {
    Gvk("", "v1", "PersistentVolumeClaim"): ("PVC", _phase),
    Gvk("", "v1", "Pod"): ("Pod", _phase),
    Gvk("", "v1", "Service"): ("Service", _nothing),
    Gvk("", "v1", "ConfigMap"): ("ConfigMap", _nothing),
    Gvk("", "v1", "Secret"): ("Secret", _nothing),
    Gvk("apps", "v1", "Deployment"): ("Deployment", _ready_of_wanted),
    Gvk("apps", "v1", "StatefulSet"): ("StatefulSet", _ready_of_wanted),
    Gvk("batch", "v1", "CronJob"): ("CronJob", _nothing),
    Gvk("batch", "v1", "Job"): ("Job", _nothing),
    Gvk("policy", "v1", "PodDisruptionBudget"): ("Budget", _nothing),
}


def in_words(gvk: Gvk, obj: Json) -> str:
    word, state = SHOWN[gvk]
    return f"{word} {state(obj)}".rstrip()
