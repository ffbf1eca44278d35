"""Recorded outcomes of stock runs, checked in: half of a comparison that need not be made anew.

`--record-stock` writes an outcome once both ways were equal. It is used while its digest holds. The
digest covers the group, the settings and the environment of its runs, this harness, the engine's code
that a stock run goes through, and what runs in it (Ansible, its libraries and collections, Python). A
tier adds what its runs depend on besides, such as the proxy. Without a recording that fits, the stock
run is made; `STOCK=1` makes all of them. A group with `anew` in its file is never recorded: the value
is the reason.

A recording does not depend on the folder of the clone, nor on the environment of the caller: plays get
an environment of their own. It still depends on the machine. So it proves that both ways are equal,
never that they differ: where a warm run differs from the recording, the stock run is made, and counts.

Rejected: recordings that a test fails for when they are old, since then each change of the runner would
be red until it is recorded; the last lines of the run name them.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import platform
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from rolecall.json_object import Json
from rolecall.runner import Ending, RunResult
from rolecall.runner.contract import Recap, TaskFailure
from rolecall.runner.warm.proof.groups import CaseGroup, GroupOutcome

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
ENGINE = ROOT / "src" / "rolecall"
SOURCES = (ROOT / "src", ROOT / "base" / "src")
RUNNER = ENGINE / "runner"
ALL_ANEW = "STOCK"
_LIBRARIES = (
    *("ansible-core", "ansible-runner", "cryptography", "jinja2", "kubernetes"),
    *("markupsafe", "pyyaml", "requests", "resolvelib", "urllib3"),
)
_IMPORT = re.compile(r"^\s*from (rolecall[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


@dataclass
class Recorded:
    """The outcomes of one folder of groups; `more` are files that its runs depend on besides."""

    folder: Path
    more: Iterable[Path] = ()

    def __post_init__(self) -> None:
        self._inputs = digest_of([*inputs_of_stock_runs(), *self.more], _versions())

    def find(self, group: CaseGroup, conditions: str) -> GroupOutcome | str:
        """The outcome of its stock run under these conditions, or why there is none."""
        if reason := group.data.get("anew"):
            return str(reason)
        if os.environ.get(ALL_ANEW):
            return "asked for"
        path = self._path(group)
        if not path.exists():
            return f"none recorded for {path.parent.name}"
        kept = json.loads(lzma.decompress(path.read_bytes()))
        if kept["digest"] != self._digest(group, conditions):
            return "recorded before something of it changed"
        return _outcome(kept["outcome"])

    def keep(self, group: CaseGroup, conditions: str, stock: GroupOutcome) -> None:
        """Write it down; the file is the same for the same outcome."""
        if group.data.get("anew"):
            return
        path = self._path(group)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {"digest": self._digest(group, conditions), "outcome": _as_json(stock)}
        # In ASCII, as what a play says may be no UTF-8.
        text = json.dumps(kept, sort_keys=True, indent=0)
        path.write_bytes(lzma.compress(text.encode(), preset=9))

    def _path(self, group: CaseGroup) -> Path:
        core = metadata.version("ansible-core").rpartition(".")[0]
        python = ".".join(platform.python_version_tuple()[:2])
        return self.folder / f"core-{core}-python-{python}" / f"{group.name}.json.xz"

    def _digest(self, group: CaseGroup, conditions: str) -> str:
        data = json.dumps(group.data, sort_keys=True, default=str)
        words = f"{self._inputs} {group.name} {data} {conditions}"
        return hashlib.sha256(words.encode()).hexdigest()


def inputs_of_stock_runs() -> list[Path]:
    """All that a stock run goes through, and what makes two runs comparable."""
    # The supervisor is a program of its own, so nothing imports it.
    ours = [*RUNNER.glob("*.py"), *(RUNNER / "stock").glob("*.py")]
    proof = [RUNNER / "warm" / "proof" / name for name in ("groups.py", "normal.py")]
    harness = [path for path in HERE.glob("*.py") if not path.name.startswith("test_")]
    return sorted({*with_imports(ours), *proof, *harness, ROOT / "lock" / "collections.toml"})


def with_imports(files: Iterable[Path]) -> set[Path]:
    """These files, and those of the engine that they import, directly or not, but for the warm way."""
    found: set[Path] = set()
    ahead = list(files)
    while ahead:
        path = ahead.pop()
        if path in found or RUNNER / "warm" in path.parents:
            continue
        found.add(path)
        ahead += _imported(path)
    return found


def _imported(path: Path) -> Iterator[Path]:
    for module, names in _IMPORT.findall(path.read_text()):
        for source in SOURCES:
            named = source.joinpath(*module.split("."))
            for each in (named, *(named / name for name in re.findall(r"\w+", names))):
                yield from filter(Path.exists, (each.with_suffix(".py"), each / "__init__.py"))


def _versions() -> list[str]:
    python = ".".join(platform.python_version_tuple()[:2])
    return [python, *(f"{name} {metadata.version(name)}" for name in _LIBRARIES)]


def digest_of(files: Iterable[Path], words: Iterable[str]) -> str:
    """Of what these files hold and where they are in the clone, and of the words."""
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
