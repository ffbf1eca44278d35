"""What a plan says is what the run then does: each way to write, one role each."""

from __future__ import annotations

import pytest

from rolecall.json_object import Json
from rolecall.plan import Certainty, PlannedChange
from tests.apiserver.plan.comparison import only
from tests.apiserver.plan.harness import CONFIG_MAP, PlanBench, config_map, k8s
from tests.play.warm.runs import Tasks


def deployment(name: str, namespace: str, replicas: int = 1) -> Json:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "app", "image": "registry.example.com/app:1"}]},
            },
        },
    }


def service(name: str, namespace: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]},
    }


def writes(namespace: str) -> dict[str, Tasks]:
    """Roles that write once to what is there (`there`, `web`), or create."""
    there = config_map("there", namespace)
    about = {"kind": "ConfigMap", "name": "there", "namespace": namespace}
    return {
        "creates": [
            k8s(config_map("new", namespace, a="1")),
            k8s(deployment("api", namespace)),
            k8s(service("api", namespace)),
        ],
        "merge patch": [k8s({**there, "data": {"a": "2"}}, merge_type=["merge"])],
        "strategic patch": [
            k8s(
                {
                    **deployment("web", namespace),
                    "spec": {
                        "template": {
                            "spec": {"containers": [{"name": "side", "image": "x/side:1"}]}
                        }
                    },
                },
                merge_type=["strategic-merge"],
            )
        ],
        "json patch": [
            {
                "kubernetes.core.k8s_json_patch": {
                    **about,
                    "patch": [{"op": "add", "path": "/data/b", "value": "3"}],
                }
            }
        ],
        "replaced": [k8s({**there, "data": {"only": "this"}}, force=True)],
        "applied by the client": [k8s({**there, "data": {"a": "4"}}, apply=True)],
    }


def other_writes(namespace: str) -> dict[str, Tasks]:
    """More of them."""
    there = config_map("there", namespace)
    return {
        "applied by the server": [
            k8s(
                {**there, "data": {"c": "5"}},
                apply=True,
                server_side_apply={"field_manager": "tester", "force_conflicts": True},
            ),
            k8s(
                config_map("new", namespace, x="1"),
                apply=True,
                server_side_apply={"field_manager": "tester"},
            ),
        ],
        "scaled": [
            {
                "kubernetes.core.k8s_scale": {
                    "kind": "Deployment",
                    "api_version": "apps/v1",
                    "name": "web",
                    "namespace": namespace,
                    "replicas": 3,
                }
            }
        ],
        "deleted": [k8s(there, state="absent")],
        "a loop": [
            {
                **k8s(config_map("n-{{ item }}", namespace, n="{{ item }}")),
                "loop": ["a", "b", "c"],
            }
        ],
        "a name made by the server": [
            {
                "kubernetes.core.k8s": {
                    "generate_name": "made-",
                    "kind": "ConfigMap",
                    "api_version": "v1",
                    "namespace": namespace,
                }
            }
        ],
        "nothing": [k8s(there)],
    }


async def prepare(bench: PlanBench) -> None:
    for body in (
        config_map("there", bench.namespace, a="1"),
        {**deployment("web", bench.namespace)},
    ):
        await bench.cluster_apply(body)


@pytest.mark.nightly
async def test_each_way_to_write_does_what_its_plan_said(bench: PlanBench) -> None:
    cases = writes(bench.namespace) | other_writes(bench.namespace)
    for name, tasks in cases.items():
        await prepare(bench)
        held = await bench.planned(tasks)
        assert not held.plan.failure, f"{name}: {held.plan.failure}"
        assert bool(held.plan.objects) == (name != "nothing"), name
        assert all(planned.certainty is Certainty.EXACT for planned in held.plan.objects), name
        try:
            await held.check()
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
        await bench.clear()


@pytest.mark.nightly
async def test_second_write_of_one_object_is_approximate_and_right(bench: PlanBench) -> None:
    made = config_map("twice", bench.namespace, a="1")
    held = await bench.planned(
        [
            k8s(made),
            k8s({**made, "data": {"b": "2"}}),
            {
                "kubernetes.core.k8s_json_patch": {
                    "kind": "ConfigMap",
                    "name": "twice",
                    "namespace": bench.namespace,
                    "patch": [{"op": "replace", "path": "/data/a", "value": "3"}],
                }
            },
            k8s(deployment("d", bench.namespace)),
            k8s(
                {
                    **deployment("d", bench.namespace),
                    "spec": {
                        "template": {
                            "spec": {
                                "containers": [
                                    {"name": "app", "env": [{"name": "A", "value": "1"}]},
                                    {"name": "side", "image": "x/side:1"},
                                ]
                            }
                        }
                    },
                }
            ),
        ]
    )
    assert [each.certainty for each in held.plan.objects] == [Certainty.APPROXIMATE] * 2
    await held.check()


@pytest.mark.nightly
async def test_second_apply_of_the_same_manager_is_exact(bench: PlanBench) -> None:
    apply = {"apply": True, "server_side_apply": {"field_manager": "tester"}}
    held = await bench.planned(
        [
            k8s(config_map("twice", bench.namespace, a="1", b="2"), **apply),
            k8s(config_map("twice", bench.namespace, a="3"), **apply),
        ]
    )
    assert only(held.plan).certainty is Certainty.EXACT
    assert (only(held.plan).after or {})["data"] == {"a": "3"}
    await held.check()


@pytest.mark.nightly
async def test_later_reads_see_what_the_plan_wrote(bench: PlanBench) -> None:
    namespace = bench.namespace
    held = await bench.planned(
        [
            {
                **k8s(config_map("l-{{ item }}", namespace, {"in": "it"}, n="{{ item }}")),
                "loop": ["a", "b"],
            },
            k8s(config_map("l-other", namespace, {"in": "no"})),
            k8s(config_map("l-a", namespace), state="absent"),
            {
                "kubernetes.core.k8s_info": {
                    "kind": "ConfigMap",
                    "namespace": namespace,
                    "label_selectors": ["in = it"],
                },
                "register": "found",
            },
            k8s(
                config_map(
                    "seen",
                    namespace,
                    names="{{ found.resources | map(attribute='metadata.name') | join(',') }}",
                )
            ),
        ]
    )
    seen = next(each for each in held.plan.objects if each.name == "seen")
    assert (seen.after or {})["data"] == {"names": "l-b"}
    await held.check()


@pytest.mark.nightly
async def test_object_in_a_new_namespace_is_reported_and_is_made(bench: PlanBench) -> None:
    new = f"{bench.namespace[:50]}-new"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new}}
    held = await bench.planned(
        [k8s(namespace), k8s(config_map("in-it", new, a="1")), k8s(service("in-it", new))],
        namespaces=(new,),
    )
    try:
        within = [each for each in held.plan.objects if each.namespace == new]
        assert {each.certainty for each in within} == {Certainty.APPROXIMATE}
        assert f"`{new}` does not exist yet" in within[0].why
        await held.check()
    finally:
        bench.cluster.api.delete(f"/api/v1/namespaces/{new}")


@pytest.mark.nightly
async def test_what_is_deleted_and_made_again_is_a_change(bench: PlanBench) -> None:
    await bench.cluster_apply(config_map("again", bench.namespace, a="1"))
    held = await bench.planned(
        [
            k8s(config_map("again", bench.namespace), state="absent"),
            k8s(config_map("again", bench.namespace, a="2")),
        ]
    )
    planned = only(held.plan)
    assert planned.change is PlannedChange.CHANGE
    changed = {row.path for row in planned.differences}
    assert changed == {".data.a", ".metadata.ownerReferences"}
    await held.check()


async def test_tasks_are_named_by_file_and_line(bench: PlanBench) -> None:
    held = await bench.planned([{"name": "Make it", **k8s(config_map("m", bench.namespace))}])
    (at,) = only(held.plan).tasks
    assert (at.task.split(" : ")[-1], at.place.rpartition("/")[2]) == ("Make it", "main.yml:1")
    assert not await bench.exists(CONFIG_MAP, "m")
