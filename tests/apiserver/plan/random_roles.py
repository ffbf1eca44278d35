"""Roles made by chance: writes of every kind to a few names, reads by label, loops, conditions."""

from __future__ import annotations

import random
from typing import Any

from rolecall.json_object import Json
from tests.apiserver.plan.harness import config_map, k8s
from tests.play.warm.runs import Tasks

_NAMES = ("a", "b", "c", "d")
_KEYS = ("x", "y", "z")
_MANAGER = {"field_manager": "tester", "force_conflicts": True}


def random_role(seed: int, namespace: str) -> Tasks:
    """The tasks of one role; the same for the same seed."""
    chance = random.Random(seed)
    return [_task(chance, namespace, number) for number in range(chance.randint(3, 8))]


def random_objects(seed: int, namespace: str) -> list[Json]:
    """What is there before the role."""
    chance = random.Random(-seed - 1)
    return [_object(chance, namespace, name) for name in _NAMES if chance.random() < 0.5]


def _task(chance: random.Random, namespace: str, number: int) -> dict[str, Any]:
    name = chance.choice(_NAMES)
    body = _object(chance, namespace, name)
    about = {"kind": "ConfigMap", "name": name, "namespace": namespace}
    match chance.randint(0, 9):
        case 0 | 1:
            task = k8s(body)
        case 2:
            task = k8s(body, force=True)
        case 3:
            task = k8s(body, apply=True)
        case 4:
            task = k8s(body, apply=True, server_side_apply=_MANAGER)
        case 5:
            task = k8s(body, state="absent")
        case 6:
            step = {"op": "add", "path": f"/metadata/annotations/n{number}", "value": "1"}
            steps = [{"op": "add", "path": "/metadata/annotations", "value": {}}, step]
            task = {
                "kubernetes.core.k8s_json_patch": {**about, "patch": steps},
                "failed_when": False,
            }
        case 7:
            task = k8s({**body, "data": {"x": None, "y": "patched"}}, state="patched")
            task["failed_when"] = False
        case 8:
            looped = config_map("{{ item }}", namespace, {"in": "loop"}, n=str(number))
            task = {**k8s(looped), "loop": chance.sample(_NAMES, 2)}
        case _:
            task = _read_back(chance, namespace, number)
    return task


def _read_back(chance: random.Random, namespace: str, number: int) -> dict[str, Any]:
    """A block that writes down what a list shows."""
    names = "{{ found.resources | map(attribute='metadata.name') | sort | join('.') }}"
    return {
        "block": [
            {
                "kubernetes.core.k8s_info": {
                    "kind": "ConfigMap",
                    "namespace": namespace,
                    "label_selectors": [
                        chance.choice(("in=loop", "in!=loop", "in", "tier in (u,v)"))
                    ],
                },
                "register": "found",
            },
            k8s(config_map(f"seen-{number}", namespace, names=names)),
        ]
    }


def _object(chance: random.Random, namespace: str, name: str) -> Json:
    labels = {"tier": chance.choice(("u", "v", "w"))}
    data = {key: str(chance.randint(0, 2)) for key in _KEYS if chance.random() < 0.6}
    return config_map(name, namespace, labels, **(data or {"x": "0"}))
