"""What `ansible-doc` said before, kept in the user's cache folder: one file for each module.

A file's name is made of everything that the answer hangs on, so nothing there is ever wrong, only old.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from rolecall.json_object import Json


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Below the folder that other programs use, too."""
    base = environment.get("XDG_CACHE_HOME")
    root = Path(base) if base else Path.home() / ".cache"
    return root / "rolecall" / "module-docs"


class Learned:
    """Answers by module and by the file that it comes from."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, module: str, source: Path) -> Json | None:
        """The answer that is known; None where it has to be asked for."""
        try:
            found = json.loads(self._file(module, source).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def write(self, module: str, source: Path, answer: Json) -> None:
        """Keep it; a cache that cannot be written is none."""
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            file = self._file(module, source)
            new = file.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps(answer), encoding="utf-8")
            new.replace(file)

    def _file(self, module: str, source: Path) -> Path:
        stamp = source.stat()
        text = f"{module} {source.resolve()} {stamp.st_mtime_ns} {stamp.st_size}"
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"
