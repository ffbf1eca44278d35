"""One engine with the real roles of several features for all tests of this folder.

It watches every namespace, so a test that looks at kinds, runs or the log looks at its own ones.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from rolecall.json_object import Json
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import BEHAVIOURS, PROJECT, ROOT, EngineProcess
from tests.e2e.features.kinds import ACTING, CRDS, SHOWN
from tests.e2e.features.planning import project
from tests.e2e.skipping import write_project
from tests.e2e.wanted_kinds import WANTED

PRUNE = ROOT / "docs" / "guides" / "prune.md"
WATCH_READS = ROOT / "docs" / "guides" / "watch-reads.md"
_FILES = re.compile(r"^```yaml\n# (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ACTS = {"name": "acts", "ansible.builtin.command": "true", "changed_when": False}


@pytest.fixture(scope="package")
def projects() -> Iterator[Path]:
    """A folder of projects: `all` has the kinds of the others, and is what the engine runs."""
    scratch = Path(tempfile.mkdtemp(prefix="f"))
    try:
        _write(scratch)
        yield scratch
    finally:
        shutil.rmtree(scratch)


@pytest.fixture(scope="package")
def shared_engine(cluster: Cluster, projects: Path) -> Iterator[EngineProcess]:
    crds = projects / "crds.yaml"
    crds.write_text(yaml.safe_dump_all(CRDS))
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(crds))
    cluster.kubectl("wait", "--for=condition=Established", "-f", str(crds))
    engine = EngineProcess(
        projects / "all",
        projects / "engine",
        kubeconfig=cluster.kubeconfig,
        environment={"WATCH_NAMESPACE": ""},
    )
    try:
        yield engine.wait_ready()
    finally:
        engine.clean_up()


@pytest.fixture
def engine(shared_engine: EngineProcess) -> Iterator[EngineProcess]:
    """The engine; what it logged meanwhile is shown when the test fails."""
    before = len(shared_engine.log)
    yield shared_engine
    print(f"--- log of the engine\n{shared_engine.log[before:]}")


def _write(scratch: Path) -> None:
    shared = scratch / "all"
    _write_guide(shared)
    shutil.copytree(PROJECT / "roles", shared / "roles", dirs_exist_ok=True)
    shown = {"group": SHOWN.group, "version": SHOWN.version, "maxSkip": "1h"}
    projects = [
        write_project(scratch / "shown", **shown, kind=SHOWN.kind, reconcilePeriod="500ms"),
        write_project(scratch / "acting", _ACTS, **shown, kind=ACTING.kind),
        project(scratch / "now", "old"),
    ]
    tasks = scratch / "shown" / "roles" / "shows" / "tasks" / "main.yml"
    tasks.write_text(
        tasks.read_text().replace("_cache_example_com_memcached", "_skips_rolecall_dev_shown")
    )
    entries = [*_entries(shared), *_entries(PROJECT)]
    for folder in projects:
        entries += [_with_role_of(folder, entry) for entry in _entries(folder)]
    for folder, kind in ((WANTED, "Vault"), (BEHAVIOURS, "Maker")):
        found = next(entry for entry in _entries(folder) if entry["kind"] == kind)
        entries.append(_with_role_of(folder, found))
    (shared / "watches.yaml").write_text(yaml.safe_dump(entries))


def _write_guide(folder: Path) -> None:
    """The files that the guides to pruning and to reads as triggers show."""
    for guide in (PRUNE, WATCH_READS):
        for name, text in _FILES.findall(guide.read_text()):
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text((file.read_text() if file.exists() else "") + text)


def _entries(folder: Path) -> list[Json]:
    entries: list[Json] = yaml.safe_load((folder / "watches.yaml").read_text())
    return entries


def _with_role_of(folder: Path, entry: Json) -> Json:
    return {**entry, "role": str(folder / "roles" / entry["role"])}
