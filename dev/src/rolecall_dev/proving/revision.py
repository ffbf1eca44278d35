"""The project as it was at a git revision, in a folder of its own for a while.

Rejected: `git worktree`, which leaves a note of the folder in the repository where a test is killed.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rolecall.errors import InputError

# Made by installing and in no commit: the revision's roles get those of today.
_INSTALLED = (".collections", "collections")


def full_revision(project: Path, revision: str) -> str:
    """Its hash; `InputError` where there is no such one."""
    found = _git(project, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if found.returncode:
        raise InputError(
            f"`{revision}` is no git revision of `{project}`",
            hint="name a tag, a branch or a commit, such as `--from v1.2.0`",
        )
    return found.stdout.decode().strip()


@contextmanager
def extracted(project: Path, revision: str) -> Iterator[Path]:
    """A folder with the project's files as they were."""
    with tempfile.TemporaryDirectory(prefix="rolecall-from-") as folder:
        tree = Path(folder)
        archive = _git(project, "archive", "--format=tar", revision)
        if archive.returncode:
            raise InputError(
                f"`{project}` at {revision} could not be read: {archive.stderr.decode().strip()}",
                hint="the folder may not have been there yet",
            )
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(tree, filter="data")
        for name in _INSTALLED:
            if (project / name).is_dir() and not (tree / name).exists():
                (tree / name).symlink_to((project / name).resolve())
        yield tree


def _git(project: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(project), *arguments], capture_output=True, check=False)
