"""Text that wants to be a template, specs that a dependent cannot have, names at their limit."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, UnprocessableError
from tests.e2e.own.cases import DEPLOYMENT, POD, SERVICE
from tests.e2e.own.world import (
    APPOPERATOR,
    CASE,
    DEMO_VOLUME,
    ETCD,
    IMAGE,
    MACHINE,
    MAPPING,
    OPERATION,
    POD_SET,
    create,
    create_sample,
    make,
    pod_spec,
    wait_reason,
    wait_settled,
)

pytestmark = pytest.mark.usefixtures("engine")

TEMPLATE = "{{ 7*7 }}{{ lookup('env','HOME') }}{%if(1)%}yes{%endif%}"


async def test_templates_in_a_spec_stay_text(api: Client, namespace: str) -> None:
    packed = TEMPLATE.replace(" ", "")
    quoted = 'x":"y\'{{7*7}}'
    crs = [
        make(DEMO_VOLUME, namespace, "x", {"name": TEMPLATE, "size": 1}),
        make(
            APPOPERATOR,
            namespace,
            "x",
            {"image": packed, "env": [{"name": "TEXT", "value": TEMPLATE + "\n- a: b"}]},
        ),
        make(MAPPING, namespace, "x", {"prefix": f"/{packed}", "target": "shop:80"}),
        make(MACHINE, namespace, "m", {"image": quoted}),
        make(POD_SET, namespace, "p", {"template": {"spec": pod_spec(packed)}}),
    ]
    await create(api, crs)
    await wait_settled(api, crs)

    assert (await api.get(DEMO_VOLUME, namespace, "x"))["status"]["name"] == TEMPLATE
    deployment = await api.get(DEPLOYMENT, namespace, "x")
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == packed
    assert container["env"] == [{"name": "TEXT", "value": TEMPLATE + "\n- a: b"}]
    annotations = (await api.get(SERVICE, namespace, "x"))["metadata"]["annotations"]
    assert annotations["routing.rolecall.dev/prefix"] == f"/{packed}"
    images = [
        (await api.get(POD, namespace, name))["spec"]["containers"][0]["image"]
        for name in ("m", "p-0")
    ]
    assert images == [quoted, packed]


async def test_refused_spec_takes_ready_away_and_an_edit_gives_it_back(
    api: Client, namespace: str
) -> None:
    await create_sample(api, CASE["appoperator"], namespace)
    bad = {"spec": {"env": [{"name": "not=a=name", "value": "x"}]}}
    await api.merge_patch(APPOPERATOR, namespace, "appoperator-sample", bad)
    said = await wait_reason(api, APPOPERATOR, namespace, "appoperator-sample", "SpecRefused")
    assert (said["status"], "not=a=name" in said["message"]) == ("False", True)
    assert 'b\'{"kind"' not in said["message"]

    await api.merge_patch(APPOPERATOR, namespace, "appoperator-sample", {"spec": {"env": []}})
    await wait_reason(api, APPOPERATOR, namespace, "appoperator-sample", "Available")


async def test_refused_template_and_schedule_are_told_in_the_servers_words(
    api: Client, namespace: str
) -> None:
    template = {"spec": {"containers": [{"name": "Not A Name", "image": IMAGE}]}}
    await api.create(POD_SET, make(POD_SET, namespace, "x", {"template": template}))
    bad = {"version": "3.6.16", "backupSchedule": "99 99 * * *"}
    await api.create(ETCD, make(ETCD, namespace, "x", bad))
    said = await wait_reason(api, POD_SET, namespace, "x", "SpecRefused")
    assert "RFC 1123 label" in said["message"]
    said = await wait_reason(api, ETCD, namespace, "x", "SpecRefused")
    assert "spec.schedule" in said["message"]


@pytest.mark.parametrize(
    ("gvk", "name", "spec"),
    [
        (APPOPERATOR, "a" * 64, {"image": IMAGE}),
        (APPOPERATOR, "a.b", {"image": IMAGE, "port": 80}),
        (MAPPING, "1a", {"prefix": "/", "target": "shop:80"}),
        (MACHINE, "a" * 64, {"image": IMAGE}),
        (POD_SET, "a" * 250, {"template": {"spec": pod_spec()}}),
        (ETCD, "a.b", {"version": "3.6.16"}),
        (OPERATION, "x", {"machine": "../x", "type": "Reboot"}),
    ],
    ids=lambda value: value.kind if isinstance(value, Gvk) else None,
)
async def test_name_that_no_dependent_could_have_is_refused_at_once(
    api: Client, namespace: str, gvk: Gvk, name: str, spec: Json
) -> None:
    with pytest.raises(UnprocessableError):
        await api.create(gvk, make(gvk, namespace, name, spec))


async def test_longest_names_work(api: Client, namespace: str) -> None:
    crs = [
        make(APPOPERATOR, namespace, "a" * 63, {"image": IMAGE, "port": 80}),
        make(MAPPING, namespace, "m" * 63, {"prefix": "/", "target": "shop:80"}),
        make(MACHINE, namespace, "c" * 63, {"image": IMAGE}),
        make(POD_SET, namespace, "p" * 249, {"template": {"spec": pod_spec()}}),
        make(DEMO_VOLUME, namespace, "v" * 253, {"name": "v", "size": 1}),
        make(ETCD, namespace, "e" * 40, {"version": "3.6.16", "backupSchedule": "0 3 * * *"}),
    ]
    await create(api, crs)
    await wait_settled(api, crs, "Starting")
