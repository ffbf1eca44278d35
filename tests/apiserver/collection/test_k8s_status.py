"""`k8s_status` against a real status subresource."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall_dev.localcluster import Cluster
from tests.apiserver.collection.modules import Modules
from tests.fixtures.eventually import eventually

GROUP = "collection.rolecall.dev"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
CRD: Json = {
    "metadata": {"name": f"gauges.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Gauge", "plural": "gauges", "singular": "gauge", "shortNames": ["gg"]},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {"type": "object", "properties": {"status": ANYTHING}}
                },
            }
        ],
    },
}


class Gauge:
    """One object, and the module to set its status with."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster, self._namespace = cluster, namespace
        self._path = f"/apis/{GROUP}/v1/namespaces/{namespace}/gauges"
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Gauge", "metadata": {"name": "x"}}
        self._cluster.api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD)
        eventually(lambda: cluster.api.create(self._path, body), ignoring=(Exception,))

    @property
    def object(self) -> Json:
        """As it is now."""
        found: Json = self._cluster.api.get(f"{self._path}/x")
        return found

    @property
    def status(self) -> Json:
        """Its status."""
        return dict(self.object.get("status") or {})

    def set(self, **arguments: Any) -> Json:
        """Run the module for it."""
        what = {"api_version": f"{GROUP}/v1", "kind": "Gauge", "name": "x"}
        modules = Modules(self._cluster.kubeconfig)
        return modules.run("k8s_status", **{**what, "namespace": self._namespace, **arguments})


@pytest.fixture
def gauge(cluster: Cluster, namespace: str) -> Gauge:
    return Gauge(cluster, namespace)


def test_keys_are_merged_and_a_second_run_writes_nothing(gauge: Gauge) -> None:
    assert gauge.set(status={"a": 1, "deep": {"b": [1, 2]}})["changed"] is True
    assert gauge.set(status={"deep": {"c": "d"}})["changed"] is True
    assert gauge.status == {"a": 1, "deep": {"b": [1, 2], "c": "d"}}
    before = gauge.object["metadata"]["resourceVersion"]
    assert gauge.set(status={"deep": {"c": "d"}})["changed"] is False
    assert gauge.object["metadata"]["resourceVersion"] == before


def test_conditions_are_merged_by_type_with_a_time(gauge: Gauge) -> None:
    gauge.set(conditions=[{"type": "A", "status": "True", "reason": "Fine2"}])
    gauge.set(conditions=[{"type": "B", "status": False, "message": "no"}])
    first, second = gauge.status["conditions"]
    assert (first["type"], first["status"], first["reason"]) == ("A", "True", "Fine2")
    assert (second["type"], second["status"], second["message"]) == ("B", "False", "no")
    time = first["lastTransitionTime"]
    gauge.set(conditions=[{"type": "A", "status": "True", "reason": "Better"}])
    assert gauge.status["conditions"][0]["lastTransitionTime"] == time
    assert gauge.status["conditions"][0]["reason"] == "Better"


def test_replace_removes_what_is_not_said_and_returns_one_object(gauge: Gauge) -> None:
    gauge.set(status={"a": 1, "b": 2})
    said = gauge.set(status={"c": 3}, replace=True)
    assert gauge.status == {"c": 3}
    assert said["result"]["metadata"]["name"] == "x"
    assert gauge.set(status={"c": 3}, force=True)["changed"] is False


@pytest.mark.nightly
def test_list_is_contained_or_equal_as_wanted(gauge: Gauge) -> None:
    gauge.set(status={"list": ["a", "b"]})
    assert gauge.set(status={"list": ["a"]})["changed"] is False
    assert gauge.set(status={"list": ["a"]}, replace_lists=True)["changed"] is True
    assert gauge.status == {"list": ["a"]}


def test_check_mode_writes_nothing(gauge: Gauge) -> None:
    assert gauge.set(status={"a": 1}, check=True)["changed"] is True
    assert gauge.status == {}


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["Gauge", "gauges", "gauge", "gg"])
def test_kind_is_found_by_each_of_its_names(gauge: Gauge, kind: str) -> None:
    assert gauge.set(kind=kind, status={"a": 1})["changed"] is True


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("arguments", "said", "detail"),
    [
        ({"kind": "Nothing"}, "Failed to find exact match for", ""),
        ({"name": "gone"}, "Failed to retrieve requested object", "404"),
        (
            {"conditions": [{"type": "A", "status": "Maybe"}]},
            "The specified conditions failed to validate",
            "True, False, Unknown",
        ),
        (
            {"conditions": [{"type": "A", "status": "True", "reason": "a b"}]},
            "The specified conditions failed to validate",
            "single, camel-case word",
        ),
        (
            {"conditions": [{"type": "A", "status": "True"}], "status": {"conditions": []}},
            "You cannot specify conditions in both",
            "",
        ),
        (
            {"api_version": "v1", "kind": "ConfigMap"},
            "Resource v1.ConfigMap does not support the status subresource",
            "",
        ),
    ],
)
def test_refusal_says_what_is_wrong(gauge: Gauge, arguments: Json, said: str, detail: str) -> None:
    answer = gauge.set(**{"status": {"a": 1}, **arguments})
    assert answer["failed"] is True
    assert answer["msg"].startswith(said)
    assert detail in str(answer.get("error", ""))
