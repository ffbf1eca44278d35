"""Kinds that are asked for without their group, and modules that moved or were removed."""

from __future__ import annotations

import pytest

from tests.unit.checks.test_tasks import problems
from tests.unit.checks.workshop import Workshop, only


@pytest.mark.parametrize(
    ("task", "is_reported"),
    [
        ("kubernetes.core.k8s_info: {kind: Deployment}", False),
        ("k8s_info: {api_version: v1, kind: deployments, name: x}", False),
        ("k8s_scale: {api_version: v1, kind: StatefulSet, name: x, replicas: 1}", False),
        ("k8s: {state: absent, api_version: v1, kind: Job, name: x}", False),
        ("k8s: {state: absent, api_version: v1, kind: Demo, name: x}", False),
        ("k8s_info: {api_version: v1, kind: CronJobb}", True),
        ("k8s_info: {api_version: v7, kind: Deployment}", True),
        ("k8s_info: {api_version: extensions/v1, kind: Deployment}", True),
        ("k8s: {api_version: v1, kind: Deployment, name: x}", True),  # is written as it is
        ("k8s: {definition: {apiVersion: v1, kind: Deployment}, state: absent}", True),
    ],
)
def test_kind_without_a_group_is_looked_for_in_all_groups_as_the_client_does(
    workshop: Workshop, task: str, is_reported: bool
) -> None:
    assert bool(problems(workshop, f"- {task}\n")) is is_reported


@pytest.mark.parametrize("name", ["k8s_facts", "kubernetes.core.k8s_facts", "k8s_raw"])
def test_module_that_was_removed_is_reported_with_what_replaces_it(
    workshop: Workshop, name: str
) -> None:
    workshop.write(
        ".collections/ansible_collections/kubernetes/core/meta/runtime.yml",
        "plugin_routing: {modules: {k8s_facts: {tombstone: {warning_text: Use k8s_info.}},"
        " k8s_raw: {tombstone: {warning_text: Use k8s_info.}}}}",
    )
    workshop.write(
        ".collections/ansible_collections/kubernetes/core/galaxy.yml", "version: 1.0.0\n"
    )
    reported = only(problems(workshop, f"- {name}: {{kind: Pod}}\n"))
    assert f"module `{name}` was removed" in reported and "Use k8s_info." in reported
