"""Text that wants to be a template, specs that a dependent cannot have, names at their limit."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, UnprocessableError
from rolecall.reconcile import PAUSED_ANNOTATION
from tests.e2e.own.cases import DEPLOYMENT, POD, SERVICE
from tests.e2e.own.world import (
    APP,
    APPOPERATOR,
    CASE,
    DEMO_VOLUME,
    ETCD,
    IMAGE,
    MACHINE,
    MAPPING,
    OPERATION,
    PARTS,
    POD_SET,
    create,
    create_sample,
    make,
    pod_spec,
    wait_reason,
    wait_settled,
)

pytestmark = pytest.mark.usefixtures("engine")

ROUTE = {"match": {"prefix": "/"}, "target": {"host": "shop", "port": 80}}
TEMPLATE = "{{ 7*7 }}{{ lookup('env','HOME') }}{%if(1)%}yes{%endif%}"


async def test_templates_in_a_spec_stay_text(api: Client, namespace: str) -> None:
    packed = TEMPLATE.replace(" ", "")
    quoted = 'x":"y\'{{7*7}}'
    variable = {"name": "TEXT", "value": TEMPLATE + "\n- a: b"}
    crs = [
        make(DEMO_VOLUME, namespace, "x", {"name": TEMPLATE, "size": 1}),
        make(
            APPOPERATOR,
            namespace,
            "x",
            {**APP, "image": {"repository": packed}, "env": [variable]},
        ),
        make(
            MAPPING, namespace, "x", {"match": {"prefix": f"/{packed}"}, "target": {"host": "shop"}}
        ),
        make(MACHINE, namespace, "m", {"image": quoted}),
        make(POD_SET, namespace, "p", {"template": {"spec": pod_spec(packed)}}),
    ]
    await create(api, crs)
    await wait_settled(api, crs)

    assert (await api.get(DEMO_VOLUME, namespace, "x"))["status"]["name"] == TEMPLATE
    deployment = await api.get(DEPLOYMENT, namespace, "x")
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == packed
    assert container["env"] == [variable]
    annotations = (await api.get(SERVICE, namespace, "x"))["metadata"]["annotations"]
    assert annotations["routing.rolecall.dev/prefix"] == f"/{packed}"
    images = [
        (await api.get(POD, namespace, name))["spec"]["containers"][0]["image"]
        for name in ("m", "p-0")
    ]
    assert images == [quoted, packed]


@pytest.mark.nightly
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


async def test_refused_template_and_schedule_are_reported_in_the_servers_words(
    api: Client, namespace: str
) -> None:
    template = {"spec": {"containers": [{"name": "Not A Name", "image": IMAGE}]}}
    await api.create(POD_SET, make(POD_SET, namespace, "x", {"template": template}))
    bad = {"version": "3.6.16", "backupSchedule": "30-10 3 * * *"}
    await api.create(ETCD, make(ETCD, namespace, "x", bad))
    said = await wait_reason(api, POD_SET, namespace, "x", "SpecRefused")
    assert "RFC 1123 label" in said["message"]
    said = await wait_reason(api, ETCD, namespace, "x", "SpecRefused")
    assert "spec.schedule" in said["message"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"backupSchedule": "99 3 * * *"}, "the minute, must be 0 to 59"),
        ({"backupSchedule": "0 99 * * *"}, "the hour, must be 0 to 23"),
        ({"backupSchedule": "0 3 0 * *"}, "the day of the month, must be 1 to 31"),
        ({"backupSchedule": "0 3 * 13 *"}, "the month, must be 1 to 12"),
        ({"backupSchedule": "0 3 * * 7"}, "the day of the week, must be 0 to 6"),
        ({"backupSize": "0Gi"}, "backupSize"),
        ({"storageSize": "0Gi"}, "storageSize"),
        ({"backupKeep": 3}, "set backupSchedule or backupOnDelete too"),
        ({"recover": "restore-1a2b3c4d"}, "to restore, name the snapshot in restoreFrom"),
    ],
)
async def test_backups_that_could_not_be_are_refused_in_plain_words(
    api: Client, namespace: str, spec: Json, said: str
) -> None:
    with pytest.raises(UnprocessableError, match=said):
        await api.create(ETCD, make(ETCD, namespace, "x", {"version": "3.6.16"} | spec))


async def test_edit_that_would_be_ignored_is_refused(api: Client, namespace: str) -> None:
    fine = {"backupSchedule": "*/5 0-6,22 ? JAN-mar MON", "backupSize": "2Gi"}
    cr = make(ETCD, namespace, "x", {"version": "3.6.16", "restoreFrom": "typo.db"} | fine)
    # Nothing works for it, so that its status is the one that is written here.
    cr["metadata"]["annotations"] = {PAUSED_ANNOTATION: "the test writes its status"}
    await api.create(ETCD, cr)
    with pytest.raises(UnprocessableError, match="backupSize can only grow"):
        await api.merge_patch(ETCD, namespace, "x", {"spec": {"backupSize": "1Gi"}})
    await api.merge_patch(ETCD, namespace, "x", {"spec": {"restoreFrom": "good.db"}})
    started = {"status": {"version": "3.6.16"}}
    await api.merge_patch(ETCD, namespace, "x", started, subresource="status")
    with pytest.raises(UnprocessableError, match="has not started yet, and this one has"):
        await api.merge_patch(ETCD, namespace, "x", {"spec": {"restoreFrom": "other.db"}})


@pytest.mark.parametrize(
    ("gvk", "name", "spec"),
    [
        (APPOPERATOR, "a" * 64, {"image": PARTS}),
        (APPOPERATOR, "a.b", {"image": PARTS, "port": 80}),
        (MAPPING, "1a", ROUTE),
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


@pytest.mark.nightly
async def test_longest_names_work(api: Client, namespace: str) -> None:
    crs = [
        make(APPOPERATOR, namespace, "a" * 63, {**APP, "port": 80}),
        make(MAPPING, namespace, "m" * 63, ROUTE),
        make(MACHINE, namespace, "c" * 63, {"image": IMAGE}),
        make(POD_SET, namespace, "p" * 249, {"template": {"spec": pod_spec()}}),
        make(DEMO_VOLUME, namespace, "v" * 253, {"name": "v", "size": 1}),
        make(ETCD, namespace, "e" * 40, {"version": "3.6.16", "backupSchedule": "0 3 * * *"}),
    ]
    await create(api, crs)
    await wait_settled(api, crs, "Starting")
