"""An operator from before there were versions, with CRs alive, and then this one in its place."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
import yaml

from rolecall.json_object import Json
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import PATIENCE_S, ROOT, EngineProcess
from tests.fixtures.eventually import eventually

pytestmark = pytest.mark.nightly

Start = Callable[[Path], EngineProcess]

# The version that was there alone. test_kind_versions.py holds its schema to what it was.
BEFORE = {"appoperators": "v1beta1", "mappings": "v1alpha1"}
TEXT = f"registry.example.com:5000/app@sha256:{'0a' * 32}"
POD_NAME = {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
APP: Json = {
    "apiVersion": "tools.rolecall.dev/v1beta1",
    "kind": "Appoperator",
    "metadata": {"name": "app"},
    "spec": {"image": TEXT, "replicas": 2, "port": 80, "env": [POD_NAME], "minReadySeconds": 0},
}
MAPPING: Json = {
    "apiVersion": "routing.rolecall.dev/v1alpha1",
    "kind": "Mapping",
    "metadata": {"name": "shop"},
    "spec": {"prefix": "/shop/", "target": "shop:8080", "headers": {"x": "1"}},
}


@pytest.fixture
def start(own_cluster: Cluster, tmp_path: Path) -> Iterator[Start]:
    """Starts an operator out of a folder."""
    with ExitStack() as ending:

        def start(folder: Path) -> EngineProcess:
            kubeconfig = own_cluster.kubeconfig
            engine = EngineProcess(
                folder,
                tmp_path / f"engine-of-{folder.name}",
                kubeconfig=kubeconfig,
                flags=("--webhook-period=1s",),
                environment={"WATCH_NAMESPACE": "default"},
            )
            ending.callback(engine.clean_up)
            ending.callback(lambda: print(f"--- the engine said\n{engine.log}"))
            return engine.wait_ready()

        yield start


def older_operator(folder: Path) -> Path:
    """Its roles, as they read the fields of that time; its watches; no rules of conversions."""
    for part in ("roles/appoperator", "roles/mapping", "playbooks"):
        shutil.copytree(ROOT / part, folder / part)
    edits = {
        "roles/appoperator/defaults/main.yml": {
            "_spec.image.repository": "_spec.image",
            "_spec.image.tag is defined": "_spec.tag is defined",
            "_spec.image.digest is defined": "_spec.digest is defined",
        },
        "roles/mapping/defaults/main.yml": {
            "_spec.match.": "_spec.",
            "[_routing_rolecall_dev_mapping_spec.target.host, ": "[",
            ".port | default('')": "",
        },
        "roles/mapping/filter_plugins/mapping.py": {'["spec"]["match"]': '["spec"]'},
        "roles/mapping/tasks/collisions.yml": {"dev/v1": "dev/v1alpha1"},
        "playbooks/mapping.yml": {"dev/v1": "dev/v1alpha1"},
    }
    for file, changes in edits.items():
        text = (folder / file).read_text()
        for now, before in changes.items():
            assert now in text
            text = text.replace(now, before)
        (folder / file).write_text(text)
    watches = [
        {
            "group": "tools.rolecall.dev",
            "version": "v1beta1",
            "kind": "Appoperator",
            "role": "appoperator",
        },
        {
            "group": "routing.rolecall.dev",
            "version": "v1alpha1",
            "kind": "Mapping",
            "playbook": "playbooks/mapping.yml",
        },
    ]
    (folder / "watches.yaml").write_text(yaml.safe_dump(watches))
    return folder


def older_crds() -> str:
    """Each with the one version that there was, and nothing to convert."""
    crds = []
    for name, version in BEFORE.items():
        crd: Json = yaml.safe_load((ROOT / f"crds/{name}.yaml").read_text())
        (only,) = (it for it in crd["spec"]["versions"] if it["name"] == version)
        for key in ("deprecated", "deprecationWarning"):
            only.pop(key, None)
        del crd["spec"]["conversion"]
        crd["spec"]["versions"] = [only | {"storage": True}]
        crds.append(crd)
    return str(yaml.safe_dump_all(crds))


def is_ready(cluster: Cluster, what: str) -> bool:
    cr: Json = cluster.kubectl_json("get", what)
    rows = {row["type"]: row for row in cr.get("status", {}).get("conditions", [])}
    is_current = cr["status"].get("observedGeneration") == cr["metadata"]["generation"]
    return bool(is_current and rows["Ready"]["status"] == "True")


def wait_ready(cluster: Cluster, *names: str) -> None:
    for what in names:
        look = partial(is_ready, cluster, what)
        eventually(look, timeout_s=PATIENCE_S, ignoring=(KeyError,))


def stored(cluster: Cluster) -> dict[str, list[str]]:
    crds = cluster.kubectl_json("get", "crds")["items"]
    found = {crd["spec"]["names"]["plural"]: crd["status"]["storedVersions"] for crd in crds}
    return {name: found[name] for name in BEFORE}


def test_crs_of_an_older_operator_go_on_without_a_rollout(
    own_cluster: Cluster, start: Start, tmp_path: Path
) -> None:
    kubectl = own_cluster.kubectl
    kubectl("apply", "-f", "-", stdin=older_crds())
    kubectl("wait", "--for=condition=Established", "crd", "--all")
    before = start(older_operator(tmp_path / "before"))
    for cr in (APP, MAPPING):
        kubectl("apply", "-f", "-", stdin=json.dumps(cr))
    wait_ready(own_cluster, "appoperator/app", "mapping/shop")
    pods = own_cluster.kubectl_json("get", "deployment/app")["spec"]["template"]
    reported = own_cluster.kubectl_json("get", "service/shop")["metadata"]["annotations"]
    assert before.stop() == 0

    kubectl("apply", "-k", str(ROOT / "crds"))
    start(ROOT)
    for name in BEFORE:
        look = partial(own_cluster.refusal, "get", name)
        eventually(look, lambda refusal: not refusal, timeout_s=PATIENCE_S)
    assert stored(own_cluster) == {name: [version, "v1"] for name, version in BEFORE.items()}
    for cr, versions in ((APP, ("v1alpha1", "v1beta1", "v1")), (MAPPING, ("v1alpha1", "v1"))):
        group, name = cr["apiVersion"].partition("/")[0], cr["metadata"]["name"]
        for version in versions:
            what = f"{cr['kind'].lower()}s.{version}.{group}/{name}"
            spec = own_cluster.kubectl_json("get", what)["spec"]
            if cr["apiVersion"].endswith(f"/{version}"):
                assert {key: spec[key] for key in cr["spec"]} == cr["spec"]

    # A run of this operator, and its objects, of which only what was asked for has changed.
    kubectl("scale", "--replicas=3", "appoperators.v1alpha1.tools.rolecall.dev/app")
    wait_ready(own_cluster, "appoperator/app", "mapping/shop")
    deployment = own_cluster.kubectl_json("get", "deployment/app")
    assert deployment["spec"]["template"] == pods
    assert deployment["spec"]["replicas"] == 3
    assert len(own_cluster.kubectl_json("get", "replicasets")["items"]) == 1
    now = own_cluster.kubectl_json("get", "service/shop")["metadata"]["annotations"]
    assert now == reported

    for name in BEFORE:
        migrate = [sys.executable, "-m", "rolecall", "migrate-storage", name]
        environment = {**os.environ, "KUBECONFIG": str(own_cluster.kubeconfig)}
        subprocess.run(migrate, env=environment, cwd=ROOT, check=True)
    assert stored(own_cluster) == {name: ["v1"] for name in BEFORE}
