"""A user who looks into the operator from another machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from rolecall.json_object import Json
from tests.real.operator import NAMESPACE, Operator


class Person:
    """A user with a kubeconfig, on another machine."""

    def __init__(self, kubeconfig: Path, empty: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        own = {"KUBECONFIG": str(kubeconfig), "ROLECALL_ARTIFACTS_DIR": str(empty)}
        self.environ = kept | own

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "rolecall", *words]

    def try_(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words), env=self.environ, capture_output=True, text=True, check=False
        )

    def rolecall(self, *words: str) -> subprocess.CompletedProcess[str]:
        said = self.try_(*words)
        assert said.returncode == 0, said.stderr
        return said

    def json(self, *words: str) -> Json:
        found: Json = json.loads(self.rolecall(*words, "-o", "json").stdout)
        return found


def person_with(token: str, operator: Operator, folder: Path) -> Person:
    """Who has no other credential than this one."""
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(operator.cluster.kubeconfig.read_text())
    for change in (
        ("set-credentials", "holder", f"--token={token}"),
        ("set-context", "--current", "--user=holder", f"--namespace={NAMESPACE}"),
    ):
        operator.cluster.kubectl("config", f"--kubeconfig={kubeconfig}", *change)
    return Person(kubeconfig, folder)
