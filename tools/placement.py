"""How long each test file takes, and how files are dealt out to workers and shards.

Seconds are in `tests/seconds.json`: for each file, what it takes in `make test`, and what its nightly
tests take on top. `pytest --write-seconds` measures them. A file that is not listed takes under 1 s.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SECONDS = "tests/seconds.json"
NOT_LISTED_S = 0.5
_LEAST_LISTED_S = 1.0
# A fixture of a folder that all its files share, such as a running engine.
_SHARED_FIXTURE = re.compile(r'scope="package"\)')


class Seconds(NamedTuple):
    """What one file takes: its tests in `make test`, and its nightly tests."""

    test: float = 0.0
    nightly: float = 0.0

    @property
    def all(self) -> float:
        """What `make test-all` runs of it."""
        return max(self.test + self.nightly, NOT_LISTED_S)


def read_seconds(root: Path = ROOT) -> dict[str, Seconds]:
    """Seconds by file, as `tests/unit/extensions/skip/test_skips.py`."""
    path = root / SECONDS
    if not path.exists():
        return {}
    return {file: Seconds(**entry) for file, entry in json.loads(path.read_text()).items()}


def write_seconds(measured: Mapping[str, Seconds], root: Path = ROOT) -> None:
    """One line for each file that takes a second or more, and still exists."""
    lines = [
        f'  "{file}": {json.dumps({"test": round(each.test, 1), "nightly": round(each.nightly, 1)})}'
        for file, each in sorted(measured.items())
        if each.test + each.nightly >= _LEAST_LISTED_S and (root / file).exists()
    ]
    (root / SECONDS).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def test_files(root: Path = ROOT) -> list[str]:
    """All of them, sorted."""
    return sorted(str(path.relative_to(root)) for path in (root / "tests").rglob("test_*.py"))


@cache
def scope_of(file: str) -> str:
    """What must stay together: a file, a folder with a shared engine, or all tests of real nodes."""
    if file.startswith("tests/real/"):
        return "tests/real"
    folder = (ROOT / file).parent
    conftest = folder / "conftest.py"
    if conftest.exists() and _SHARED_FIXTURE.search(conftest.read_text()):
        return str(folder.relative_to(ROOT))
    return file


def shards(weights: Mapping[str, float], count: int) -> list[list[str]]:
    """Deal names out so that each shard takes equally long: the longest first, to the emptiest."""
    dealt: list[list[str]] = [[] for _ in range(count)]
    taken = [0.0] * count
    for name in sorted(weights, key=lambda each: (-weights[each], each)):
        emptiest = taken.index(min(taken))
        dealt[emptiest].append(name)
        taken[emptiest] += weights[name]
    return [sorted(names) for names in dealt]


def scopes(files: Iterable[str]) -> dict[str, list[str]]:
    """The files of each scope; two shards may each have real nodes, one of them for etcd."""
    found: dict[str, list[str]] = {}
    for file in files:
        of_etcd = file.startswith("tests/real/test_etcdcluster")
        found.setdefault("tests/real of etcd" if of_etcd else scope_of(file), []).append(file)
    return found
