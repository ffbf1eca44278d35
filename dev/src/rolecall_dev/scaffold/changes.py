"""New and changed files of one command: all of them are written, or none.

Nothing is touched before every content is known and every conflict was looked for. Each file is then
written beside its place and renamed into it; if that fails half-way, what was there before comes back
and what is new goes, folders included.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from rolecall.errors import InputError

_SHOWN = 10  # conflicts that are named one by one


@dataclass(slots=True)
class Changes:
    """What a command is about to do to one folder."""

    root: Path
    new: dict[str, str] = field(default_factory=dict)  # path below root -> content
    edited: dict[str, str] = field(default_factory=dict)  # files that must be there already

    def add(self, path: str, content: str) -> None:
        """A file that must not be there yet."""
        self.new[path] = content

    def edit(self, path: str, content: str) -> None:
        """A new content for a file that is there, or was added by this command."""
        (self.new if path in self.new else self.edited)[path] = content

    def text_of(self, path: str) -> str | None:
        """A file as it will be; None where there is none."""
        for pending in (self.edited, self.new):
            if path in pending:
                return pending[path]
        file = self.root / path
        try:
            return file.read_text(encoding="utf-8") if file.is_file() else None
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"`{file}` could not be read: {error}") from error

    def write(self, *, force: bool) -> list[str]:
        """Write it all; the paths that changed. `force` allows new files to replace others."""
        self._look_for_conflicts(force=force)
        wanted = {**self.new, **self.edited}
        before = {path: self._bytes_of(path) for path in wanted}
        made: list[Path] = []
        changed = [path for path in wanted if wanted[path].encode() != before[path]]
        try:
            for path in changed:
                made += _make_folders((self.root / path).parent)
                _replace(self.root / path, wanted[path].encode())
        except BaseException as error:
            self._restore(before, changed, made)
            if isinstance(error, OSError):
                raise InputError(
                    f"nothing was written, since `{path}` could not be: {error.strerror}"
                ) from error
            raise
        return changed

    def _look_for_conflicts(self, *, force: bool) -> None:
        for path in (*self.new, *self.edited):
            file = self.root / path
            if file.is_dir():
                raise InputError(f"nothing was written, since `{path}` is a folder")
            above = next((it for it in file.parents if it.exists() and not it.is_dir()), None)
            if above is not None:
                raise InputError(f"nothing was written, since `{above}` is not a folder")
        there = [path for path in self.new if os.path.lexists(self.root / path)]
        if there and not force:
            names = "".join(f"\n  {path}" for path in there[:_SHOWN])
            more = f"\n  and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
            raise InputError(
                f"nothing was written, since these files are there already:{names}{more}",
                hint="`--force` replaces them",
            )

    def _bytes_of(self, path: str) -> bytes | None:
        file = self.root / path
        return file.read_bytes() if file.is_file() else None

    def _restore(
        self, before: dict[str, bytes | None], changed: list[str], made: list[Path]
    ) -> None:
        for path in changed:
            content = before[path]
            if content is None:
                (self.root / path).unlink(missing_ok=True)
            elif self._bytes_of(path) != content:
                _replace(self.root / path, content)
        for folder in reversed(made):
            folder.rmdir()


def _make_folders(folder: Path) -> list[Path]:
    """Make it and what is above it; those that were not there, from the top down."""
    missing = [it for it in (folder, *folder.parents) if not it.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _replace(file: Path, content: bytes) -> None:
    """Put the content in place at once; a file that was there keeps its mode."""
    mode = file.stat().st_mode & 0o777 if file.exists() else 0o644
    # A link stays one: what it leads to is replaced.
    target = file.resolve()
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
