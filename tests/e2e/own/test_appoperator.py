"""What an Appoperator has beside its Deployment and Service, and what its CRD refuses."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError, UnprocessableError
from tests.e2e.own.cases import BUDGET, DEPLOYMENT
from tests.e2e.own.world import APPOPERATOR, PARTS, make, wait, wait_reason

pytestmark = pytest.mark.usefixtures("engine")

CONFIG_MAP = Gvk("", "v1", "ConfigMap")
AUTOSCALER = Gvk("autoscaling", "v2", "HorizontalPodAutoscaler")
INGRESS = Gvk("networking.k8s.io", "v1", "Ingress")
OFTEN = {"ansible.sdk.operatorframework.io/reconcile-period": "2s"}
EXTRAS: Json = {
    "autoscaling": {"minReplicas": 2, "maxReplicas": 5},
    "disruptionBudget": {"maxUnavailable": "50%"},
    "ingress": {"host": "app.example.com", "ingressClassName": "web"},
    "envFrom": [{"configMapRef": {"name": "settings"}}],
}


def mark_of(deployment: Json) -> str:
    annotations = deployment["spec"]["template"]["metadata"]["annotations"]
    return str(annotations["tools.rolecall.dev/template"])


async def test_extras_come_and_go_and_the_number_of_pods_is_the_autoscalers(
    api: Client, namespace: str
) -> None:
    settings = make(CONFIG_MAP, namespace, "settings", {})
    del settings["spec"]
    await api.create(CONFIG_MAP, {**settings, "data": {"a": "1"}})
    app = make(APPOPERATOR, namespace, "x", {"image": PARTS, "replicas": 3, "port": 80})
    app["spec"]["minReadySeconds"] = 0
    app["metadata"]["annotations"] = OFTEN
    await api.create(APPOPERATOR, app)
    await wait_reason(api, APPOPERATOR, namespace, "x", "Available")

    await api.merge_patch(APPOPERATOR, namespace, "x", {"spec": EXTRAS})
    await wait_reason(api, APPOPERATOR, namespace, "x", "Available")
    for gvk in (AUTOSCALER, BUDGET, INGRESS):
        assert (await api.get(gvk, namespace, "x"))["metadata"]["ownerReferences"]
    deployment = await api.get(DEPLOYMENT, namespace, "x")
    assert deployment["spec"]["replicas"] == 3, "the autoscaler takes over what is there"

    before = mark_of(deployment)
    await api.merge_patch(DEPLOYMENT, namespace, "x", {"spec": {"replicas": 4}})
    await api.merge_patch(CONFIG_MAP, namespace, "settings", {"data": {"a": "2"}})

    async def is_rolled() -> bool:
        found = await api.get(DEPLOYMENT, namespace, "x")
        assert found["spec"]["replicas"] == 4
        return mark_of(found) != before

    await wait(is_rolled)
    await wait_reason(api, APPOPERATOR, namespace, "x", "Available")

    await api.merge_patch(APPOPERATOR, namespace, "x", {"spec": dict.fromkeys(EXTRAS)})
    await wait_reason(api, APPOPERATOR, namespace, "x", "Available")
    for gvk in (AUTOSCALER, BUDGET, INGRESS):
        with pytest.raises(NotFoundError):
            await api.get(gvk, namespace, "x")
    assert (await api.get(DEPLOYMENT, namespace, "x"))["spec"]["replicas"] == 3

    # One revision is good for each template; the first is the one without extras.
    await api.merge_patch(APPOPERATOR, namespace, "x", {"spec": {"rollbackTo": 9}})
    said = await wait_reason(api, APPOPERATOR, namespace, "x", "RevisionUnknown")
    assert "the revisions that are kept are 1, 2" in said["message"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"minReadySeconds": 120}, "must be less than rolloutDeadlineSeconds"),
        ({"autoscaling": {"minReplicas": 3, "maxReplicas": 2}}, "must not be more than"),
        ({"disruptionBudget": {"minAvailable": 1, "maxUnavailable": 1}}, "either minAvailable or"),
        ({"disruptionBudget": {"minAvailable": "half"}}, "minAvailable"),
        ({"ingress": {"host": "a.example"}}, "so it needs spec.port"),
        ({"envFrom": [{"prefix": "A"}]}, "either a configMapRef or a secretRef"),
        ({"strategy": {"type": "Recreate", "rollingUpdate": {}}}, "is for type RollingUpdate"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
async def test_spec_that_contradicts_itself_is_refused_at_once(
    api: Client, namespace: str, spec: Json, words: str
) -> None:
    with pytest.raises(UnprocessableError, match=words):
        await api.create(APPOPERATOR, make(APPOPERATOR, namespace, "x", {"image": PARTS, **spec}))
