"""What stock runs of groups came to, checked in: half of a comparison that need not be made anew.

`--record-stock` writes an outcome, once both ways were equal. It is used while its digest holds: of the
group, of this harness, of what starts a stock run, and of what runs in it (Ansible, its libraries and
collections, Python); so nothing is compared with what another Ansible did. Where there is none that
fits, the stock run is made; `STOCK=1` makes all of them.

What a digest cannot know is the machine. So an outcome proves that both ways are equal, never that they
differ: where a warm run is not as recorded, the stock run is made, and that counts.

Rejected: recordings that a test fails for when they are old, since then each change of the runner would
be red until somebody recorded it; the run's last lines name them.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from rolecall.json_object import Json
from rolecall.runner import Ending, RunResult
from rolecall.runner.contract import Recap, TaskFailure
from rolecall.runner.warm.proof.groups import CaseGroup, GroupOutcome

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
RUNNER = ROOT / "src" / "rolecall" / "runner"
ALL_ANEW = "STOCK"
_LIBRARIES = (
    *("ansible-core", "ansible-runner", "cryptography", "jinja2", "kubernetes"),
    *("markupsafe", "pyyaml", "requests", "resolvelib", "urllib3"),
)


@dataclass
class Recorded:
    """The outcomes of one folder of groups; `more` are files that its runs depend on besides."""

    folder: Path
    more: Iterable[Path] = ()
    _inputs: str = field(init=False)

    def __post_init__(self) -> None:
        self._inputs = _digest_of([*_files(), *self.more], _versions())

    def find(self, group: CaseGroup) -> GroupOutcome | str:
        """The outcome of its stock run, or why there is none."""
        if os.environ.get(ALL_ANEW):
            return "asked for"
        path = self._path(group)
        if not path.exists():
            return f"none recorded for {path.parent.name}"
        kept = json.loads(lzma.decompress(path.read_bytes()))
        if kept["digest"] != self._digest(group):
            return "recorded before something of it changed"
        return _outcome(kept["outcome"])

    def keep(self, group: CaseGroup, stock: GroupOutcome) -> None:
        """For whoever comes next; the file is the same for the same outcome."""
        path = self._path(group)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {"digest": self._digest(group), "outcome": _as_json(stock)}
        # In ASCII, as what a play says may be no UTF-8.
        text = json.dumps(kept, sort_keys=True, indent=0)
        path.write_bytes(lzma.compress(text.encode(), preset=9))

    def _path(self, group: CaseGroup) -> Path:
        core = metadata.version("ansible-core").rpartition(".")[0]
        python = ".".join(platform.python_version_tuple()[:2])
        return self.folder / f"core-{core}-python-{python}" / f"{group.name}.json.xz"

    def _digest(self, group: CaseGroup) -> str:
        said = json.dumps(group.data, sort_keys=True, default=str)
        return hashlib.sha256(f"{self._inputs} {group.name} {said}".encode()).hexdigest()


def _files() -> list[Path]:
    """All that a stock run goes through, and what makes two runs comparable."""
    proof = [RUNNER / "warm" / "proof" / name for name in ("groups.py", "normal.py")]
    ours = [*RUNNER.glob("*.py"), *(RUNNER / "stock").glob("*.py"), *proof]
    harness = [path for path in HERE.glob("*.py") if not path.name.startswith("test_")]
    return sorted([*ours, *harness, ROOT / "lock" / "collections.toml"])


def _versions() -> list[str]:
    python = ".".join(platform.python_version_tuple()[:2])
    return [python, *(f"{name} {metadata.version(name)}" for name in _LIBRARIES)]


def _digest_of(files: Iterable[Path], words: Iterable[str]) -> str:
    digest = hashlib.sha256("\n".join(words).encode())
    for path in files:
        digest.update(f"\n{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _as_json(stock: GroupOutcome) -> Json:
    result = stock.result
    failures = [[each.task, each.place, each.host] for each in result.failures]
    return {
        "slices": stock.slices,
        "tree": stock.tree,
        "world": stock.world,
        "way": stock.way,
        "ending": result.ending.value,
        "rc": result.rc,
        "recap": result.recap and asdict(result.recap),
        "failures": failures,
        "changed_tasks": list(result.changed_tasks),
    }


def _outcome(kept: dict[str, Any]) -> GroupOutcome:
    result = RunResult(
        run_id="recorded",
        ending=Ending(kept["ending"]),
        rc=kept["rc"],
        recap=kept["recap"] and Recap(**kept["recap"]),
        failures=[TaskFailure("", *each) for each in kept["failures"]],
        changed_tasks=kept["changed_tasks"],
    )
    tree = {name: tuple(entry) for name, entry in kept["tree"].items()}
    return GroupOutcome(result, kept["slices"], tree=tree, world=kept["world"], way=kept["way"])
