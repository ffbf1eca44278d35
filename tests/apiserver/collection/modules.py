"""Runs a module of operator_sdk.util as Ansible does: in a Python of its own, arguments as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rolecall.json_object import Json
from rolecall.runner.inputs import BUNDLED_COLLECTIONS

_START = """
import json, runpy, sys
from ansible.module_utils import basic
basic._ANSIBLE_ARGS = sys.stdin.buffer.read()
basic._ANSIBLE_PROFILE = "legacy"
name = "ansible_collections.operator_sdk.util.plugins.modules." + sys.argv[1]
runpy.run_module(name, run_name="__main__")
"""


class Modules:
    """The modules, as the user of a kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        self._kubeconfig = str(kubeconfig)

    def run(self, module: str, **arguments: Any) -> Json:
        """What the module says in the end."""
        arguments = {"kubeconfig": self._kubeconfig, **arguments}
        return run(module, **arguments)


def run(module: str, *, check: bool = False, **arguments: Any) -> Json:
    """Run a module with no more than these arguments."""
    settings = {"_ansible_check_mode": check, "_ansible_remote_tmp": "/tmp"}
    done = subprocess.run(
        [sys.executable, "-c", _START, module],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": {**arguments, **settings}}),
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(BUNDLED_COLLECTIONS), "PATH": "/usr/bin:/bin"},
    )
    assert done.stdout, done.stderr
    said: Json = json.loads(done.stdout.splitlines()[-1])
    return said
