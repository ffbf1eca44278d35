"""What an Appoperator has beside its Deployment and Service, and what its CRD refuses."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError, UnprocessableError
from tests.e2e.own.cases import BUDGET, DEPLOYMENT, SERVICE
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


@pytest.mark.nightly
async def test_image_that_loses_its_tag_is_pulled_for_each_pod_as_if_it_never_had_one(
    api: Client, namespace: str
) -> None:
    await api.create(APPOPERATOR, make(APPOPERATOR, namespace, "x", {"image": PARTS}))
    await wait(lambda: api.get(DEPLOYMENT, namespace, "x"))
    await api.merge_patch(APPOPERATOR, namespace, "x", {"spec": {"image": {"tag": None}}})

    async def pull_policy() -> str | None:
        pod = (await api.get(DEPLOYMENT, namespace, "x"))["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        is_new = container["image"] == PARTS["repository"]
        return str(container["imagePullPolicy"]) if is_new else None

    assert await wait(pull_policy) == "Always"


@pytest.mark.nightly
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
    assert (await api.get(DEPLOYMENT, namespace, "x"))["spec"]["replicas"] == 4, "what it left"

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


@pytest.mark.nightly
async def test_edited_port_is_restored_though_two_of_one_name_are_refused(
    api: Client, namespace: str
) -> None:
    spec = {"image": PARTS, "replicas": 1, "port": 80, "minReadySeconds": 0}
    await api.create(APPOPERATOR, make(APPOPERATOR, namespace, "x", spec))
    await wait_reason(api, APPOPERATOR, namespace, "x", "Available")
    deployment = await api.get(DEPLOYMENT, namespace, "x")
    service = await api.get(SERVICE, namespace, "x")

    # A port is found by its number: an apply leaves theirs, and adds ours of the same name.
    pod = deployment["spec"]["template"]["spec"]
    container, port = pod["containers"][0], service["spec"]["ports"][0]
    ports = [{**container["ports"][0], "containerPort": 81}]
    edit = {"containers": [{**container, "ports": ports}]}
    await api.merge_patch(DEPLOYMENT, namespace, "x", {"spec": {"template": {"spec": edit}}})
    await api.merge_patch(SERVICE, namespace, "x", {"spec": {"ports": [{**port, "port": 81}]}})

    async def is_back(number: int) -> bool:
        found = (await api.get(DEPLOYMENT, namespace, "x"))["spec"]["template"]["spec"]
        numbers = [one["containerPort"] for one in found["containers"][0]["ports"]]
        served = (await api.get(SERVICE, namespace, "x"))["spec"]["ports"]
        return (numbers, [one["port"] for one in served]) == ([number], [number])

    await wait(lambda: is_back(80))
    await wait_reason(api, APPOPERATOR, namespace, "x", "Available")
    # Nor does what the mend left behind stand in the way of the next wish.
    await api.merge_patch(APPOPERATOR, namespace, "x", {"spec": {"port": 90}})
    await wait(lambda: is_back(90))


@pytest.mark.nightly
async def test_field_that_is_taken_out_of_the_spec_goes_after_a_hand_edit_was_mended(
    api: Client, namespace: str
) -> None:
    spec = {"image": PARTS, "replicas": 1, "port": 80, "args": ["serve"], "minReadySeconds": 0}
    await api.create(APPOPERATOR, make(APPOPERATOR, namespace, "x", spec))
    await wait_reason(api, APPOPERATOR, namespace, "x", "Available")
    pod = (await api.get(DEPLOYMENT, namespace, "x"))["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    port = {**container["ports"][0], "containerPort": 81}
    edit = {"containers": [{**container, "ports": [port]}]}
    await api.merge_patch(DEPLOYMENT, namespace, "x", {"spec": {"template": {"spec": edit}}})

    async def runs(args: list[str] | None, numbers: list[int]) -> bool:
        found = (await api.get(DEPLOYMENT, namespace, "x"))["spec"]["template"]["spec"]
        (now,) = found["containers"]
        ports = [one["containerPort"] for one in now.get("ports", [])]
        return (now.get("args"), ports) == (args, numbers)

    await wait(lambda: runs(["serve"], [80]))
    # The mend made a second manager own what it wrote; no apply of ours takes that away.
    await api.merge_patch(APPOPERATOR, namespace, "x", {"spec": {"args": None, "port": None}})
    await wait(lambda: runs(None, []))


@pytest.mark.nightly
async def test_container_that_another_client_added_is_removed(api: Client, namespace: str) -> None:
    spec = {"image": PARTS, "replicas": 1, "minReadySeconds": 0}
    await api.create(APPOPERATOR, make(APPOPERATOR, namespace, "x", spec))
    await wait_reason(api, APPOPERATOR, namespace, "x", "Available")
    pod = (await api.get(DEPLOYMENT, namespace, "x"))["spec"]["template"]["spec"]
    more = {"containers": [*pod["containers"], {"name": "theirs", "image": "theirs"}]}
    await api.merge_patch(DEPLOYMENT, namespace, "x", {"spec": {"template": {"spec": more}}})

    async def is_out() -> bool:
        found = (await api.get(DEPLOYMENT, namespace, "x"))["spec"]["template"]["spec"]
        return len(found["containers"]) == 1

    await wait(is_out)
