"""`rolecall plan` as a person types it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.json_object import Json
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import ROOT

NOTHING, SOMETHING, TROUBLE, REFUSED, UNKNOWN = 0, 1, 2, 3, 5
_ROLE = """---
- name: keep a ConfigMap for each book
  kubernetes.core.k8s:
    definition:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: "{{ ansible_operator_meta.name }}-{{ item }}"
        namespace: "{{ ansible_operator_meta.namespace }}"
      data:
        word: "%s"
  loop: "{{ books | default([]) }}"
"""


@dataclass(frozen=True)
class PlanCommand:
    """A shell; its kubeconfig's user sees the whole cluster, unless it is another's."""

    cluster: Cluster
    namespace: str
    scratch: Path

    def __call__(self, folder: Path, *words: str, code: int, kubeconfig: Path | None = None) -> str:
        """What it printed."""
        ended = subprocess.run(
            [sys.executable, "-m", "rolecall", "plan", "-n", self.namespace, *words],
            cwd=folder,
            env=self._environment(kubeconfig or self.cluster.kubeconfig),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert ended.returncode == code, f"{ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout + ended.stderr if "json" not in words else ended.stdout

    def objects(self, folder: Path, *words: str, code: int) -> list[tuple[str, str]]:
        """Change and name of each object of the first CR."""
        made: Json = json.loads(self(folder, *words, "-o", "json", code=code))
        return [(row["change"], row["name"]) for row in made["crs"][0]["objects"]]

    def file(self, manifest: Json) -> str:
        path = self.scratch / "cr.json"
        path.write_text(json.dumps(manifest))
        return str(path)

    def _environment(self, kubeconfig: Path) -> Mapping[str, str]:
        return {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(self.scratch),
            "TMPDIR": str(self.scratch),
            "KUBECONFIG": str(kubeconfig),
            "ANSIBLE_GATHERING": "explicit",
            "ANSIBLE_COLLECTIONS_PATH": f"{ROOT / '.collections'}",
        }


def project(folder: Path, word: str, **more: Any) -> Path:
    """A project of kind Heap, whose objects have this word in them."""
    tasks = folder / "roles" / "heap" / "tasks" / "main.yml"
    tasks.parent.mkdir(parents=True)
    tasks.write_text(_ROLE % word)
    watch = {"group": "wanted.rolecall.dev", "version": "v1", "kind": "Heap", "role": "heap"}
    (folder / "watches.yaml").write_text(json.dumps([{**watch, **more}]))
    return folder
