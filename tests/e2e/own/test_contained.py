"""What an Appoperator's pods may not do to their node, also where the CRD could not refuse it."""

from __future__ import annotations

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client
from tests.e2e.own.cases import DEPLOYMENT
from tests.e2e.own.world import APP, APPOPERATOR, IMAGE, make, pod_spec, wait_reason

pytestmark = pytest.mark.usefixtures("engine")


def pod_with(**fields: object) -> Json:
    return {**pod_spec(IMAGE), **fields}


def container_with(**security: object) -> Json:
    (container,) = pod_spec(IMAGE)["containers"]
    return {"containers": [{**container, "securityContext": security}]}


# What must be said of each.
ESCAPES = {
    "hostNetwork": pod_with(hostNetwork=True),
    "hostPath": pod_with(volumes=[{"name": "node", "hostPath": {"path": "/"}}]),
    "privileged": container_with(privileged=True),
    "SYS_PTRACE": container_with(capabilities={"add": ["SYS_PTRACE"]}),
    "of an init container: privileged": pod_with(
        initContainers=container_with(privileged=True)["containers"]
    ),
}


@pytest.mark.parametrize("escape", ESCAPES)
async def test_revision_that_a_client_wrote_into_the_status_is_not_run_where_it_leaves_the_container(
    api: Client, namespace: str, escape: str
) -> None:
    await api.create(APPOPERATOR, make(APPOPERATOR, namespace, "kept", APP))
    await wait_reason(api, APPOPERATOR, namespace, "kept", "Available")
    before = (await api.get(DEPLOYMENT, namespace, "kept"))["spec"]

    forged = {"revision": 66, "image": IMAGE, "template": ESCAPES[escape]}
    status = (await api.get(APPOPERATOR, namespace, "kept"))["status"]
    revisions = {"status": {"revisions": [*status["revisions"], forged]}}
    await api.merge_patch(APPOPERATOR, namespace, "kept", revisions, subresource="status")
    await api.merge_patch(APPOPERATOR, namespace, "kept", {"spec": {"rollbackTo": 66}})

    said = await wait_reason(api, APPOPERATOR, namespace, "kept", "SpecRefused")
    assert escape.rpartition(": ")[2] in said["message"]
    assert (await api.get(DEPLOYMENT, namespace, "kept"))["spec"] == before


async def test_container_of_an_empty_security_context_cannot_get_more_privileges(
    api: Client, namespace: str
) -> None:
    spec = {**APP, "securityContext": {}, "podSecurityContext": {}}
    await api.create(APPOPERATOR, make(APPOPERATOR, namespace, "bare", spec))
    await wait_reason(api, APPOPERATOR, namespace, "bare", "Available")

    pod = (await api.get(DEPLOYMENT, namespace, "bare"))["spec"]["template"]["spec"]
    assert pod["containers"][0]["securityContext"] == {"allowPrivilegeEscalation": False}
