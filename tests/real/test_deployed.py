"""Our operator in pods of its own image: what it is allowed, and that it survives what happens to pods.

Each test leaves two healthy replicas of the first image behind, since the whole tier shares them.
"""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence

import pytest
import yaml

from rolecall.json_object import Json
from rolecall_dev.localcluster import APP, ETCD, Cluster, frozen_node
from tests.fixtures.eventually import eventually
from tests.real import images
from tests.real.operator import NAMESPACE, ROOT, Operator
from tests.real.world import PATIENCE_S, World, condition, is_current, is_ready, mapping

MAPPINGS = "/apis/routing.rolecall.dev/v1"
CROWD = 40  # ten times as many as may be in flight


@pytest.fixture(autouse=True)
def healthy(operator: Operator, world: World) -> Iterator[None]:
    """As it was found, so it is left: who takes over next need not look at this test's crowd."""
    operator.wait_complete(images.FIRST)
    operator.wait_for_leader()
    yield
    # All in one request: kubectl would delete and await one after the other.
    world.kubectl("delete", "--raw", f"{MAPPINGS}/namespaces/{world.namespace}/mappings")
    operator.wait_complete(images.FIRST)
    operator.wait_for_leader()


def crowd(prefix: str) -> list[Json]:
    return [mapping(f"{prefix}-{number}") for number in range(CROWD)]


def ready_ones(world: World, prefix: str) -> list[str]:
    found = world.list("mappings")
    names = [each["metadata"]["name"] for each in found if each.get("status") and is_ready(each)]
    return [name for name in names if name.startswith(f"{prefix}-")]


def all_get_ready(world: World, prefix: str) -> None:
    eventually(lambda: len(ready_ones(world, prefix)) == CROWD, timeout_s=PATIENCE_S)


def expect_nothing_lost(world: World, prefix: str) -> None:
    """One Service for each, by its own owner, and no status says that anything failed."""
    owners = {
        each["metadata"]["name"]: [owner["uid"] for owner in each["metadata"]["ownerReferences"]]
        for each in world.list("services")
        if each["metadata"]["name"].startswith(f"{prefix}-")
    }
    found = [
        each for each in world.list("mappings") if each["metadata"]["name"].startswith(f"{prefix}-")
    ]
    assert owners == {each["metadata"]["name"]: [each["metadata"]["uid"]] for each in found}
    assert not [each for each in found if condition(each, "Failure").get("status") == "True"]


def test_pod_runs_without_privileges_on_a_read_only_root_filesystem(
    operator: Operator,
) -> None:
    for pod in (each["metadata"]["name"] for each in operator.pods()):
        status = operator.execute(pod, "cat", "/proc/1/status")
        facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        assert facts["Name"] == "tini"
        assert facts["Uid"].split() == ["1001"] * 4
        assert int(facts["CapEff"], 16) == int(facts["CapBnd"], 16) == 0
        assert (facts["NoNewPrivs"], facts["Seccomp"]) == ("1", "2")
        tried = operator.execute(pod, "sh", "-c", "touch /opt/ansible/x 2>&1 || touch /tmp/x")
        assert "Read-only file system" in tried
    namespace = operator.cluster.kubectl("get", "namespace", NAMESPACE, "-o", "json")
    labels = json.loads(namespace)["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def samples() -> list[Json]:
    """Those of config/samples, with images that are here."""
    text = "\n---\n".join(
        path.read_text()
        for path in sorted((ROOT / "config" / "samples").glob("*.yaml"))
        if path.name != "kustomization.yaml"
    )
    found = [document for document in yaml.safe_load_all(text) if document]
    for sample in found:
        spec = sample["spec"]
        if sample["kind"] == "EtcdCluster":
            spec.update(image=ETCD, storageSize="128Mi", backupSize="64Mi")
        elif sample["kind"] == "PodSet":
            spec["template"]["spec"]["containers"][0]["image"] = APP
        elif sample["kind"] == "Appoperator":
            spec["image"] = {"repository": APP}
        elif "image" in spec:
            spec["image"] = APP
    return found


def test_samples_become_ready_with_the_least_rights(operator: Operator, world: World) -> None:
    found = samples()
    world.apply(*found)
    # Its claim waits for a pod, as with most providers of disks.
    expected = {sample["kind"] for sample in found} - {"DemoVolume"}
    for sample in found:
        if sample["kind"] in expected:
            world.wait_ready(sample["kind"].lower(), sample["metadata"]["name"])
    volume = eventually(
        lambda: world.get("demovolume", "demovolume-sample"),
        lambda cr: is_current(cr) and condition(cr, "Ready").get("reason") == "WaitingForConsumer",
        timeout_s=PATIENCE_S,
    )
    assert condition(volume, "Failure").get("status") != "True"
    for pod in operator.pods():
        said = operator.log(pod["metadata"]["name"])
        assert "forbidden" not in said.lower()
        assert "which is slower" not in said
    kinds = [f"{sample['kind'].lower()}/{sample['metadata']['name']}" for sample in found]
    # An operation goes with its machine, and may be gone already.
    world.kubectl("delete", *kinds, "--ignore-not-found", f"--timeout={PATIENCE_S:.0f}s")


def test_api_server_asks_the_operator_through_its_service(operator: Operator, world: World) -> None:
    older = {
        "apiVersion": "tools.rolecall.dev/v1alpha1",
        "kind": "Appoperator",
        "metadata": {"name": "older", "annotations": {"rolecall.dev/paused": "true"}},
        "spec": {"image": APP, "size": 2, "env": {"GREETING": "hello"}},
    }
    world.apply(older)
    newest = world.cluster.kubectl_json(
        "-n", world.namespace, "get", "appoperators.v1.tools.rolecall.dev", "older"
    )["spec"]
    assert newest["replicas"] == 2
    assert newest["env"] == [{"name": "GREETING", "value": "hello"}]
    assert "{repository}:{tag}".format(**newest["image"]) == APP
    etcd = {
        "apiVersion": "mycompany.com/v1alpha1",
        "kind": "EtcdCluster",
        "metadata": {"name": "taken", "namespace": world.namespace},
        "spec": {"version": "3.5.35", "replicas": 1, "image": ETCD},
    }
    world.kubectl("create", "service", "clusterip", "taken-peer", "--tcp=99")
    trial = ("create", "--dry-run=server", "-f", "-")
    # The leader registers its webhooks a little after it came to lead.
    eventually(
        lambda: operator.cluster.refusal(*trial, stdin=json.dumps(etcd)),
        lambda said: "metadata.name: Service taken-peer of that name is there" in said,
        timeout_s=PATIENCE_S,
    )
    world.kubectl("delete", "appoperator", "older", f"--timeout={PATIENCE_S:.0f}s")


def metrics_code(cluster: Cluster, token: str) -> int:
    service = "rolecall-controller-manager-metrics-service"
    found = json.loads(cluster.kubectl("-n", NAMESPACE, "get", "service", service, "-o", "json"))
    blind = ssl.create_default_context()
    blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
    url = f"https://{found['spec']['clusterIP']}:8443/metrics"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=60, context=blind) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code


def test_metrics_are_for_those_who_may_read_them(operator: Operator, world: World) -> None:
    account = f"system:serviceaccount:{world.namespace}:prometheus"
    world.kubectl("create", "serviceaccount", "prometheus")
    token = world.kubectl("create", "token", "prometheus").strip()
    assert metrics_code(operator.cluster, "nonsense") == 401
    assert metrics_code(operator.cluster, token) == 403
    world.kubectl(
        *("create", "clusterrolebinding", world.namespace),
        *("--clusterrole=rolecall-metrics-reader", f"--user={account}"),
    )
    eventually(lambda: metrics_code(operator.cluster, token) == 200)
    world.kubectl("delete", "clusterrolebinding", world.namespace)


KILL_ENGINE = "kill -9 $(cat /proc/1/task/1/children)"


@pytest.mark.parametrize("end", ["terminated", "killed"])
def test_leader_that_ends_in_mid_run_is_followed_and_nothing_is_lost(
    operator: Operator, world: World, end: str
) -> None:
    prefix = end.replace(" ", "-")
    leader, holder = operator.wait_for_leader(), operator.holder()
    world.apply(*crowd(prefix))
    eventually(lambda: len(ready_ones(world, prefix)) > 2, timeout_s=PATIENCE_S)
    if end == "killed":
        operator.execute(leader, "sh", "-c", KILL_ENGINE)
    else:
        operator.kubectl("delete", "pod", leader, "--wait=false")
    assert len(ready_ones(world, prefix)) < CROWD, "it ended in the middle of its work"
    operator.wait_for_next(holder)
    all_get_ready(world, prefix)
    expect_nothing_lost(world, prefix)


def test_leader_on_a_frozen_node_is_followed_and_writes_nothing_when_it_thaws(
    operator: Operator, world: World
) -> None:
    operator.spread()
    leader, holder = operator.wait_for_leader(), operator.holder()
    before = operator.container(leader)["restartCount"]
    world.apply(*crowd("ice"))
    eventually(lambda: len(ready_ones(world, "ice")) > 2, timeout_s=PATIENCE_S)
    with frozen_node(operator.cluster, operator.get("pod", leader)["spec"]["nodeName"]):
        operator.wait_for_next(holder)
        all_get_ready(world, "ice")
        done = statuses(world, "ice")
    restarted = eventually(
        lambda: operator.container(leader),
        lambda container: container["restartCount"] > before and container["ready"],
        timeout_s=PATIENCE_S,
    )
    assert restarted["lastState"]["terminated"]["exitCode"] == 4
    assert statuses(world, "ice") == done
    expect_nothing_lost(world, "ice")


def statuses(world: World, prefix: str) -> dict[str, Json]:
    return {
        each["metadata"]["name"]: each["status"]
        for each in world.list("mappings")
        if each["metadata"]["name"].startswith(f"{prefix}-")
    }


def uids(world: World, names: Sequence[str]) -> dict[str, str]:
    return {name: world.get("service", name)["metadata"]["uid"] for name in names}


def says(world: World, names: Sequence[str], words: str) -> bool:
    messages = [condition(world.get("mapping", name), "Ready").get("message", "") for name in names]
    return all(words in message for message in messages)


def test_upgrade_and_rollback_keep_what_is_there_and_serve_what_comes(
    operator: Operator, world: World, second_image: str
) -> None:
    old = ["live-1", "live-2"]
    world.apply(*map(mapping, old))
    for name in old:
        world.wait_ready("mapping", name)
    services = uids(world, old)

    operator.deploy(second_image)
    world.apply(mapping("during-upgrade"))
    world.wait_ready("mapping", "during-upgrade")
    operator.wait_complete(second_image)
    all_names = [*old, "during-upgrade"]
    eventually(lambda: says(world, all_names, images.SECOND_WORDS), timeout_s=PATIENCE_S)

    operator.kubectl("rollout", "undo", "deployment")
    world.apply(mapping("during-rollback"))
    world.wait_ready("mapping", "during-rollback")
    operator.wait_complete(images.FIRST)
    all_names.append("during-rollback")
    eventually(lambda: says(world, all_names, images.FIRST_WORDS), timeout_s=PATIENCE_S)
    assert uids(world, old) == services


def test_memory_fits_what_the_deployment_asks_for(operator: Operator, world: World) -> None:
    leader = operator.wait_for_leader()
    resources = operator.pods()[0]["spec"]["containers"][0]["resources"]
    idle = operator.memory_mib(leader)
    world.apply(*crowd("load"))
    seen = []
    while len(ready_ones(world, "load")) < CROWD:
        seen.append(operator.memory_mib(leader))
    print(f"idle {idle:.0f} MiB, under load {max(seen):.0f} MiB of {resources}")
    assert idle < mebibytes(resources["requests"]["memory"])
    assert max(seen) < mebibytes(resources["limits"]["memory"]) * 0.8
    ended = operator.container(leader).get("lastState", {}).get("terminated", {})
    assert ended.get("reason") != "OOMKilled"


def mebibytes(text: str) -> int:
    return int(text.removesuffix("Mi"))  # any other unit is no number
