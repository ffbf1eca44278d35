"""Which objects `appoperator` writes: those that are not there as they should be, and no others."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import yaml

from tests.unit.roles.filters import ROLES, role_filter

to_write = role_filter("appoperator", "appoperator_to_write", "appoperator_objects")
not_taken = role_filter("appoperator", "appoperator_not_taken", "appoperator_objects")
extras = role_filter("appoperator", "appoperator_extras", "appoperator_objects")
filled = role_filter("appoperator", "appoperator_pod", "appoperator_objects")

ALWAYS_PULLED = yaml.safe_load((ROLES / "appoperator/vars/main/state.yml").read_text())[
    "_appoperator_always_pulled"
]

SERVICE: dict[str, Any] = {
    "kind": "Service",
    "metadata": {"name": "app", "labels": {"app": "app"}},
    "spec": {"selector": {"app": "app"}, "ports": [{"name": "app", "port": 80}], "empty": {}},
}


@pytest.fixture
def stored() -> dict[str, Any]:
    """As the API server keeps it: with defaults, and without what is empty."""
    (written,) = to_write([SERVICE], [])
    found = copy.deepcopy(written)
    del found["spec"]["empty"]
    found["spec"]["ports"][0]["protocol"] = "TCP"
    found["metadata"]["uid"] = "1"
    return dict(found)


def test_object_that_is_as_it_should_be_is_not_written(stored: dict[str, Any]) -> None:
    assert to_write([SERVICE], [stored]) == []


def test_object_that_is_not_there_is_written() -> None:
    assert [one["kind"] for one in to_write([SERVICE], [{**SERVICE, "kind": "Ingress"}])] == [
        "Service"
    ]


@pytest.mark.parametrize(
    "damage",
    [
        lambda it: it["spec"]["ports"][0].update(port=81),
        lambda it: it["spec"]["ports"].append({"port": 82}),
        lambda it: it["metadata"].pop("labels"),
    ],
    ids=["other value", "longer list", "lost label"],
)
def test_object_that_somebody_changed_is_written(stored: dict[str, Any], damage: Any) -> None:
    damage(stored)
    assert len(to_write([SERVICE], [stored])) == 1


def test_field_that_is_not_wanted_any_more_makes_a_write(stored: dict[str, Any]) -> None:
    wanted = copy.deepcopy(SERVICE)
    del wanted["spec"]["selector"]
    assert len(to_write([wanted], [stored])) == 1


def test_apply_that_was_refused_or_left_an_item_of_somebody_else_did_not_take(
    stored: dict[str, Any],
) -> None:
    (item,) = to_write([SERVICE], [])
    longer = copy.deepcopy(stored)
    longer["spec"]["ports"].append({"name": "theirs", "port": 82})
    refused = {"item": item, "msg": "refused"}
    assert not_taken([{"item": item, "result": stored}]) == []
    assert not_taken([{"item": item, "result": longer}, refused]) == [item, item]


def test_field_that_is_left_beside_what_is_wanted_did_not_take() -> None:
    container = {"name": "app-container", "image": "app:1"}
    item = {"kind": "Deployment", "spec": {"template": {"spec": {"containers": [container]}}}}
    left = copy.deepcopy(item)
    left["spec"]["template"]["spec"]["containers"][0]["args"] = ["serve"]  # type: ignore[index]
    kept = copy.deepcopy(item)
    kept["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] = "Always"  # type: ignore[index]
    assert not_taken([{"item": item, "result": left}]) == [item]
    assert not_taken([{"item": item, "result": kept}]) == []


def test_kinds_follow_from_the_fields_that_say_something() -> None:
    asked = {"autoscaling": {"maxReplicas": 3}, "ingress": {}, "httpRoute": {"parentRefs": []}}
    assert extras(asked) == ["HorizontalPodAutoscaler", "HTTPRoute"]


def test_pod_says_only_what_is_set() -> None:
    pod = {"containers": [{"image": "app", "env": [], "securityContext": {}}], "volumes": []}
    assert filled(pod) == {"containers": [{"image": "app"}]}


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("app", "Always"),
        ("app:latest", "Always"),
        ("registry:5000/app", "Always"),
        ("app:1.0", "IfNotPresent"),
        ("registry:5000/app:1.0", "IfNotPresent"),
        ("app@sha256:0a", "IfNotPresent"),
        ("app:latest@sha256:0a", "Always"),
    ],
)
def test_image_is_pulled_as_kubernetes_would_for_a_new_object(image: str, policy: str) -> None:
    is_always = re.match(ALWAYS_PULLED, image.rpartition("/")[2])
    assert ("Always" if is_always else "IfNotPresent") == policy
