"""Plays find what lies beside watches.yaml, wherever the command was started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

MODULE = """
from ansible.module_utils.basic import AnsibleModule
AnsibleModule({}).exit_json(msg="hello from beside the watches")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    collection = folder / ".collections/ansible_collections/acme/web"
    (collection / "plugins/modules").mkdir(parents=True)
    (collection / "plugins/modules/hello.py").write_text(MODULE)
    info = {"namespace": "acme", "name": "web", "version": "1.0.0"}
    (collection / "MANIFEST.json").write_text(json.dumps({"collection_info": info}))
    (folder / "roles/inner/tasks").mkdir(parents=True)
    tasks = [{"name": "greet", "acme.web.hello": {}}]
    (folder / "roles/inner/tasks/main.yml").write_text(yaml.safe_dump(tasks))
    (folder / "playbooks").mkdir()
    play = [{"hosts": "localhost", "gather_facts": False, "roles": ["inner"]}]
    (folder / "playbooks/site.yml").write_text(yaml.safe_dump(play))
    gvk = {"group": "demo.example.com", "version": "v1"}
    entries = [
        {**gvk, "kind": "Played", "playbook": str(folder / "playbooks/site.yml")},
        {**gvk, "kind": "Role", "role": "inner"},
    ]
    (folder / "watches.yaml").write_text(yaml.safe_dump(entries))
    for kind in ("Played", "Role"):
        cr = {"apiVersion": "demo.example.com/v1", "kind": kind, "metadata": {"name": "x"}}
        (folder / f"{kind}.yaml").write_text(yaml.safe_dump(cr))
    (folder / "kubeconfig").write_text("{}")
    return folder


@pytest.mark.parametrize("kind", ["Played", "Role"])
def test_roles_and_collections_beside_the_watches_are_found_from_elsewhere(
    project: Path, tmp_path: Path, kind: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "rolecall", "run-role"),
            *("--watches-file", "../project/watches.yaml"),
            *("--cr", str(project / f"{kind}.yaml"), "-v"),
        ],
        cwd=elsewhere,
        env={
            **{name: os.environ[name] for name in ("PATH", "TMPDIR")},
            "HOME": str(tmp_path),
            "KUBECONFIG": str(project / "kubeconfig"),
            "ANSIBLE_GATHERING": "explicit",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr + ran.stdout
    assert "hello from beside the watches" in ran.stdout
