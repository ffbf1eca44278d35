"""Each folder of src/rolecall/extensions can be deleted, with its entry point: nothing misses it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from tests.fixtures.without_extensions import (
    NAMES,
    ROOT,
    copy_without,
    extensions_left,
    keys_of,
    run_python,
    run_tests,
)

_WATCHES = (
    "- {group: demo.example.com, version: v1, kind: Demo, role: demo, cancelOnDelete: true}\n"
)
_OWN_WATCHES = (ROOT / "watches.yaml").read_text()
_VERSION = "import rolecall.app; import rolecall.cli; rolecall.cli.main(['version'])"
# The steps of a turn, and what a role's watch may say.
_CORE = ("tests/unit/workqueue", "tests/unit/status", "tests/unit/reconcile")


@pytest.mark.slow
def test_engine_works_without_any_extension(tmp_path: Path) -> None:
    works_without(NAMES, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_engine_works_without_an_extension(name: str, tmp_path: Path) -> None:
    environment = works_without([name], tmp_path)
    if not any(f"  {key}:" in _OWN_WATCHES for key in keys_of(name)):
        assert " 0 errors" in run_python(environment, "-m", "rolecall", "check")
    run_tests(environment, tmp_path, "-m", "not slow and not nightly", *_CORE)


def works_without(names: Collection[str], folder: Path) -> dict[str, str]:
    """Import the engine and check a project; returns the environment of the copy."""
    environment = copy_without(names, folder)
    (loaded,) = (
        line.partition(":")[2].strip()
        for line in run_python(environment, "-c", _VERSION).splitlines()
        if line.startswith("extensions:")
    )
    assert loaded == ", ".join(extensions_left(names))
    tasks = folder / "project" / "roles" / "demo" / "tasks" / "main.yml"
    tasks.parent.mkdir(parents=True)
    tasks.write_text("[]\n")
    (folder / "project" / "watches.yaml").write_text(_WATCHES)
    checked = run_python(environment, "-m", "rolecall", "check", cwd=folder / "project")
    assert " 0 errors" in checked, checked
    return environment
