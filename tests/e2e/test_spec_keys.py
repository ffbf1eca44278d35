"""A CR of an open kind that names a role's own variable does not move what the role makes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import ROOT
from tests.e2e.kinds import CONFIG_MAP, cr
from tests.fixtures.crds import crd_for, install

OPEN = Gvk("openkeys.rolecall.dev", "v1", "OpenMover")
TASKS = """\
- kubernetes.core.k8s:
    definition:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "moved-{{ word }}", namespace: "{{ _ov_target_ns }}"}
"""


def run(
    command: list[str], folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(("overrides", "place"), [(False, "own"), (True, "other")])
async def test_object_stays_in_the_namespace_that_the_role_names(
    api: Client, cluster: Cluster, namespace: str, tmp_path: Path, overrides: bool, place: str
) -> None:
    role, word = tmp_path / "roles" / "mover", place
    for name, text in (("vars", f"_ov_target_ns: {namespace}\n"), ("tasks", TASKS)):
        (role / name).mkdir(parents=True)
        (role / name / "main.yml").write_text(text)
    entry = {"group": OPEN.group, "version": "v1", "kind": OPEN.kind, "role": "mover"}
    (tmp_path / "watches.yaml").write_text(
        yaml.safe_dump([{**entry, "specOverridesRole": overrides}])
    )
    await install(api, crd_for(OPEN))
    name = f"{namespace}-{word}"
    await api.create(OPEN, cr(OPEN, namespace, OvTargetNs="default", word=name))
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "KUBECONFIG": str(cluster.kubeconfig),
        "ANSIBLE_GATHERING": "explicit",
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
    }
    made = f"moved-{name}"
    planned = run(
        [sys.executable, "-m", "rolecall", "plan", "-n", namespace, "-o", "json", "OpenMover/x"],
        tmp_path,
        environment,
    )
    (report,) = json.loads(planned.stdout)["crs"]
    places = [each["namespace"] for each in report["objects"] if each["name"] == made]
    assert places == ["default" if overrides else namespace]

    command = [sys.executable, "-m", "rolecall", "run-role", "-n", namespace, "OpenMover/x"]
    ended = run(command, tmp_path, environment)
    assert ended.returncode == 0, ended.stderr
    assert ("`OvTargetNs` (set in mover/vars/main.yml:1)" in ended.stderr) is not overrides
    found = await api.get(CONFIG_MAP, "default" if overrides else namespace, made)
    assert found["metadata"]["name"] == made
    if overrides:
        await api.delete(CONFIG_MAP, "default", made)
