"""kubectl, as people use it, for what only it does: kustomize, and strict validation."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import yaml

from rolecall_dev.localcluster import Binaries, Cluster
from tests.fixtures.eventually import eventually


class Kubectl:
    """Runs kubectl against a cluster; its last words are the error."""

    def __init__(self, binaries: Binaries, cluster: Cluster) -> None:
        self._program = str(binaries["kubectl"])
        self._kubeconfig = str(cluster.kubeconfig)

    def __call__(self, *arguments: str, stdin: str = "") -> str:
        """Its output; fails the test where it fails."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Whatever comes of it."""
        return subprocess.run(
            [self._program, "--kubeconfig", self._kubeconfig, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    def install(self, *what: str) -> None:
        """Apply CRDs, and wait until all of them can be used."""
        names = self("apply", "--server-side", "--force-conflicts", "--output=name", *what).split()

        def established() -> None:
            for name in names:
                crd = yaml.safe_load(self("get", name, "--output=yaml"))
                conditions = {row["type"]: row["status"] for row in crd["status"]["conditions"]}
                assert conditions.get("Established") == "True"

        eventually(
            established,
            lambda _: True,
            ignoring=(AssertionError, KeyError, TypeError),
        )

    def rendered(self, folder: Path) -> list[dict[str, Any]]:
        """The documents of a kustomization."""
        return list(yaml.safe_load_all(self("kustomize", str(folder))))

    def judge(self, documents: list[dict[str, Any]], *flags: str) -> str:
        """What the API server says of these, strictly, without keeping them."""
        text = yaml.safe_dump_all(documents)
        return self("apply", "--dry-run=server", "--validate=strict", *flags, "-f", "-", stdin=text)
