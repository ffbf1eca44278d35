"""What starts pods anew, and names that are as long as Kubernetes takes them."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall_dev.proving.checks.neighbours import long_name
from rolecall_dev.proving.checks.upgrade import (
    Rollouts,
    Workload,
    changed_template,
    needless_restarts,
    wanted_restarts,
    workloads,
)
from rolecall_dev.staging import NO_LEEWAY


def workload(kind: str, image: str, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web", "annotations": more.pop("annotations", {})},
        "spec": {"template": {"spec": {"containers": [{"name": "app", "image": image}]}}},
        **more,
    }


def test_workloads_are_known_by_template_and_revision() -> None:
    deployment = workload(
        "Deployment", "app:1", annotations={"deployment.kubernetes.io/revision": "2"}
    )
    stateful = workload("StatefulSet", "app:1", status={"updateRevision": "web-55"})
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}}
    template = deployment["spec"]["template"]
    assert workloads([deployment, stateful, other], NO_LEEWAY) == {
        "Deployment.apps/web": Workload(template, "2"),
        "StatefulSet.apps/web": Workload(template, "web-55"),
    }


def test_same_template_in_another_namespace_is_the_same() -> None:
    found = []
    for namespace in ("case-1", "case-2"):
        obj = workload("Deployment", f"registry.{namespace}/app")
        obj["metadata"]["namespace"] = namespace
        found.append(workloads([obj], NO_LEEWAY))
    assert found[0] == found[1]


def test_changed_template_is_reported_leaf_by_leaf() -> None:
    before, after = (workload("Deployment", image)["spec"]["template"] for image in ("a:1", "a:2"))
    (line,) = changed_template(before, after)
    assert line.endswith('"a:1" -> "a:2"')
    assert not changed_template(before, before)


def outcome(before: Workload, after: Workload, fresh: Workload) -> Rollouts:
    return Rollouts(
        {"Deployment.apps/web": before},
        {"Deployment.apps/web": after},
        {"Deployment.apps/web": fresh},
    )


def test_pods_that_keep_running_are_not_reported() -> None:
    same = Workload({"image": "a"}, "1")
    assert not needless_restarts(outcome(same, same, same))
    assert not wanted_restarts(outcome(same, same, same))


def test_template_that_changed_and_changed_back_restarts_pods_without_need() -> None:
    before, after = Workload({"image": "a"}, "1"), Workload({"image": "a"}, "3")
    found = outcome(before, after, Workload({"image": "a"}, "1"))
    assert needless_restarts(found) == ["Deployment.apps/web: template revision 1, then 3"]
    assert not wanted_restarts(found)


def test_restart_for_what_a_fresh_cr_does_not_have_is_without_need() -> None:
    before, after = Workload({"image": "a"}, "1"), Workload({"image": "b"}, "2")
    assert needless_restarts(outcome(before, after, Workload({"image": "a"}, "1")))


def test_restart_for_what_a_fresh_cr_has_is_reported_with_what_changed() -> None:
    before, after = Workload({"image": "a"}, "1"), Workload({"image": "b"}, "2")
    found = outcome(before, after, Workload({"image": "b"}, "1"))
    assert not needless_restarts(found)
    (line,) = wanted_restarts(found)
    assert '"a" -> "b"' in line


@pytest.mark.parametrize("letters", [63, 253])
def test_long_names_differ_only_in_their_last_letter(letters: int) -> None:
    first, second = (long_name("site", letters, last) for last in "ab")
    assert len(first) == len(second) == letters
    assert first[:-1] == second[:-1]
    assert first != second
    assert first.startswith("site-")
