"""Environments beside `.venv`: one for each Python with each ansible-core, for `make test-matrix`.

They live in the cache of rolecall, so that a clone stays as small as it is. uv makes one in seconds
from what it has downloaded before, with hard links; only bytecode is written anew. What belongs to a
clone that is gone is removed.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from rolecall_dev.localcluster import default_cache
from tools import setup

ROOT = setup.ROOT
UV = Path(sys.executable).with_name("uv")
LOCKS = ("lock/dev.txt", "lock/tools.txt")
# Written last: what it follows from.
STAMP = "made-from"
_MAKING = threading.Lock()


class NotMadeError(Exception):
    """One line of cause."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A Python and an ansible-core that fits it."""

    python: str  # such as `3.13`
    core: str  # such as `2.21`
    executable: str  # empty where this machine has no such Python

    @property
    def name(self) -> str:
        """As people write it."""
        return f"{self.python}/{self.core}"

    @property
    def folder_name(self) -> str:
        """As file systems and clusters like it."""
        return f"{self.python}-{self.core}".replace(".", "-")


def make(pair: Pair, root: Path | None = None) -> Path:
    """The Python of the pair's environment, with everything that the locks name, and ourselves.

    One at a time, for pairs that are tested side by side: they tidy the same folder, and build from
    the same one.
    """
    with _MAKING:
        return _make(pair, root)


def _make(pair: Pair, root: Path | None) -> Path:
    folder = (root or folder_of_clone()) / pair.folder_name
    python = folder / "bin" / "python"
    files = [*LOCKS, f"lock/core/{pair.core}.txt", *setup.OWN_PROJECTS]
    key = f"{pair.executable} {setup.key_of(*files)}"
    stamp = folder / STAMP
    if stamp.exists() and stamp.read_text() == key and setup.works([str(python), "-c", ""]):
        return python
    shutil.rmtree(folder, ignore_errors=True)
    _uv("venv", "--python", pair.executable, folder)
    locked = ("--python", python, "--require-hashes", "--compile-bytecode")
    _uv("pip", "sync", *locked, *LOCKS)
    _uv("pip", "install", *locked, "--no-deps", "-r", f"lock/core/{pair.core}.txt")
    own = ("--no-deps", "--no-build-isolation", *setup.editable())
    _uv("pip", "install", "--python", python, *own)
    stamp.write_text(key)
    return python


def folder_of_clone() -> Path:
    """Where the environments of this clone are; those of clones that are gone are removed."""
    cache = default_cache() / "matrix"
    own = cache / hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]
    own.mkdir(parents=True, exist_ok=True)
    (own / "clone").write_text(str(ROOT))
    for other in cache.iterdir():
        clone = other / "clone"
        if clone.is_file() and not Path(clone.read_text()).is_dir():
            shutil.rmtree(other)
    return own


def variables(python: Path) -> dict[str, str]:
    """For programs of such an environment: nothing of the caller's own gets in the way."""
    kept = setup.clean_environment()
    path = f"{python.parent}:{kept.get('PATH', '')}"
    return {**kept, "PATH": path, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections")}


def _uv(*words: str | Path) -> None:
    command = [str(UV), *(str(word) for word in words), "--quiet"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise NotMadeError(f"`uv {words[0]} {words[1]}`: {' '.join(lines)[:300]}")
