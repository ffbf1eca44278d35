"""A run child holds what a new `ansible-playbook` holds, whatever its host prepared.

No list of all that Ansible keeps in a process is known. So all is compared that its modules refer
to, in a child right before its play and in a process that only imported the same modules.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import ansible_runner
import pytest
import yaml

from tests.play.fidelity.harness import COLLECTIONS

_SCRIPT = Path(__file__).with_name("process_state.py")
_ARGUED: dict[str, str] = yaml.safe_load(_SCRIPT.with_suffix(".yml").read_text())
_CALLBACK = Path(ansible_runner.__file__).parent / "display_callback" / "callback"


@pytest.fixture(scope="module")
def differences(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    folder = tmp_path_factory.mktemp("state")
    tasks = folder / "role" / "tasks" / "main.yml"
    tasks.parent.mkdir(parents=True)
    tasks.write_text("- debug: {msg: \"{{ a | default('x') | to_json }}\"}\n")
    warm = _state(folder, "warm", str(folder))
    new = _state(folder, "new", str(folder / "modules"))
    places = warm.keys() & new.keys()
    return {place: (warm[place], new[place]) for place in places if warm[place] != new[place]}


def _state(folder: Path, *arguments: str) -> dict[str, str]:
    found = folder / f"{arguments[0]}-state.json"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",  # names of filters' modules are made of hashes
        "ANSIBLE_HOME": str(folder / "home"),
        "ANSIBLE_LOCAL_TEMP": str(folder),
        "ANSIBLE_CALLBACK_PLUGINS": str(_CALLBACK),
        "ANSIBLE_STDOUT_CALLBACK": "awx_display",
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
        "AWX_ISOLATED_DATA_DIR": str(folder),
    }
    command = [sys.executable, str(_SCRIPT), *arguments, str(found)]
    subprocess.run(command, env=environment, cwd=folder, check=True, timeout=300)
    return dict(json.loads(found.read_text()))


@pytest.mark.nightly
def test_child_holds_nothing_that_a_new_process_does_not(
    differences: dict[str, tuple[str, str]],
) -> None:
    found = {
        place: held
        for place, held in differences.items()
        if not held[0].startswith("seams.py:")
        and not any(re.fullmatch(pattern, place) for pattern in _ARGUED)
    }
    assert found == {}, "of the host, of a new process; mend it, or argue in process_state.yml"


def test_comparison_sees_what_the_hooks_replace(
    differences: dict[str, tuple[str, str]],
) -> None:
    assert any(held[0].startswith("seams.py:") for held in differences.values())


def test_each_argued_difference_has_a_reason() -> None:
    assert all(len(reason) > 15 for reason in _ARGUED.values())
