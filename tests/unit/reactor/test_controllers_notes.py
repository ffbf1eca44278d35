"""What Kubernetes' own controllers note on a dependent brings its owners no run."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.kube import Resource
from tests.unit.reactor.test_owned_objects import CLAIMS, CONFIG_MAPS, DEPLOYMENTS, Stream, owned

NOTES = (
    "deployment.kubernetes.io/revision",
    "pv.kubernetes.io/bind-completed",
    "volume.kubernetes.io/storage-provisioner",
    "volume.beta.kubernetes.io/storage-provisioner",
    "endpoints.kubernetes.io/last-change-trigger-time",
    "control-plane.alpha.kubernetes.io/leader",
    "autoscaling.alpha.kubernetes.io/conditions",
    "batch.kubernetes.io/job-tracking",
)
# Of people and roles, by names that look alike.
NO_NOTES = (
    "kubernetes.io/ingress.class",
    "volume.beta.kubernetes.io/storage-class",
    "service.beta.kubernetes.io/aws-load-balancer-type",
    "kubectl.kubernetes.io/restartedAt",
    "autoscaling.alpha.kubernetes.io/metrics",
)


@pytest.mark.parametrize("resource", [CONFIG_MAPS, DEPLOYMENTS, CLAIMS], ids=lambda it: it.plural)
@pytest.mark.parametrize("had", [{}, {"role": "wrote"}])
@pytest.mark.parametrize("note", NOTES)
def test_what_kubernetes_controllers_note_is_no_drift(
    resource: Resource, had: dict[str, str], note: str
) -> None:
    stream = Stream(resource)
    which: dict[str, Any] = {"generation": 1} if resource is DEPLOYMENTS else {}
    first: dict[str, Any] = {"annotations": had} if had else {}
    stream.says("ADDED", owned(**which, **first))
    for version, value in (("2", "1"), ("3", "2")):
        noted = owned(resourceVersion=version, annotations={**had, note: value}, **which)
        assert stream.says("MODIFIED", noted) == []
    assert stream.lists(owned(annotations=had, **which)) == []
    assert stream.says("MODIFIED", owned(annotations={"role": "other", note: "1"}, **which)) == [
        "a"
    ]


@pytest.mark.parametrize("name", NO_NOTES)
def test_annotations_of_others_are_drift(name: str) -> None:
    stream = Stream(CONFIG_MAPS)
    stream.lists(owned(data={"k": "1"}))
    assert stream.says("MODIFIED", owned(data={"k": "1"}, annotations={name: "x"})) == ["a"]


def test_volume_that_a_claim_gets_is_no_drift() -> None:
    stream = Stream(CLAIMS)
    stream.says("ADDED", owned(spec={"size": 1}))
    assert stream.says("MODIFIED", owned(spec={"size": 1, "volumeName": "pv-1"})) == []
    assert stream.says("MODIFIED", owned(spec={"size": 2, "volumeName": "pv-1"})) == ["a"]
    other = Stream(CONFIG_MAPS)
    other.says("ADDED", owned(spec={"size": 1}))
    assert other.says("MODIFIED", owned(spec={"size": 1, "volumeName": "pv-1"})) == ["a"]
