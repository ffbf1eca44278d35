"""The CRs to test an operator with: those of config/samples, or files that were named.

Of a file with several objects, those of watched kinds are tested, and the others are made before each
case: a Secret that the CR refers to, for one. A CR that refers to another CR names the sample of that
one in an annotation; so each is a sample of its own, and `kubectl apply -k` makes none twice.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map
from rolecall.watches import Watch

_FOLDER = "config/samples"
# Says on a sample that simulated nodes cannot make it ready.
NEEDS_ANNOTATION = "rolecall.dev/needs"
# Names files beside the sample, with commas: what is in them is made before it.
BEFORE_ANNOTATION = "rolecall.dev/before"


@dataclass(frozen=True, slots=True)
class CrSample:
    file: str
    cr: Json
    watch: Watch
    before: tuple[Json, ...] = ()  # what is made before it
    crs_before: tuple[Json, ...] = ()  # and then CRs that the operator makes ready first

    @property
    def gvk(self) -> Gvk:
        return self.watch.gvk

    @property
    def name(self) -> str:
        return str(self.cr["metadata"]["name"])

    @property
    def needs(self) -> str:
        """What it needs that a simulated cluster does not have."""
        return str(as_map(self.cr["metadata"].get("annotations")).get(NEEDS_ANNOTATION) or "")

    def __str__(self) -> str:
        return f"{self.gvk.kind}/{self.name}"


def find_samples(
    project: Path, watches: Sequence[Watch], kinds: Sequence[str], files: Sequence[Path]
) -> list[CrSample]:
    """Those of the wanted kinds, in the order of watches.yaml; `InputError` where there are none."""
    by_gvk = {watch.gvk: watch for watch in watches}
    wanted = {kind.lower() for kind in kinds}
    _require_kinds(kinds, by_gvk)
    found = []
    for file in files or _files_in(project / _FOLDER):
        objects = _objects_in(file)
        others = tuple(obj for obj in objects if _gvk(obj) not in by_gvk)
        shown = str(file.relative_to(project)) if file.is_relative_to(project) else str(file)
        for obj in objects:
            watch = by_gvk.get(_gvk(obj))
            if watch is not None and (not wanted or watch.gvk.kind.lower() in wanted):
                _require_name(obj, shown)
                also = _named_before(obj, file)
                crs = tuple(each for each in also if _gvk(each) in by_gvk)
                rest = tuple(each for each in also if _gvk(each) not in by_gvk)
                found.append(CrSample(shown, obj, watch, (*others, *rest), crs))
    if not found:
        where = ", ".join(map(str, files)) or _FOLDER
        raise InputError(
            f"no sample of a watched kind was found in {where}",
            hint="write one, or name a file with `--sample`",
        )
    order = list(by_gvk)
    return sorted(found, key=lambda sample: order.index(sample.gvk))


def _require_kinds(wanted: Iterable[str], by_gvk: Iterable[Gvk]) -> None:
    known = {gvk.kind.lower(): gvk.kind for gvk in by_gvk}
    for kind in wanted:
        if kind.lower() not in known:
            raise InputError(
                f"kind `{kind}` is not watched",
                hint=f"watches.yaml watches {', '.join(known.values())}",
            )


def _require_name(cr: Json, shown: str) -> None:
    if not as_map(cr["metadata"]).get("name"):
        raise InputError(
            f"{shown}: `metadata` of {cr['kind']} has no name",
            hint="each sample needs a `name` of its own; cases make it in a namespace for each",
        )


def _files_in(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.glob("*.y*ml")) if file.stem != "kustomization"]


def _named_before(cr: Json, file: Path) -> list[Json]:
    named = str(as_map(cr["metadata"].get("annotations")).get(BEFORE_ANNOTATION) or "")
    files = [file.parent / each.strip() for each in named.split(",") if each.strip()]
    return [obj for each in files for obj in _objects_in(each)]


def _objects_in(file: Path) -> list[Json]:
    try:
        documents = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{file}: could not be read: {error}") from error
    return [
        each
        for each in documents
        if isinstance(each, dict) and {"apiVersion", "kind", "metadata"} <= each.keys()
    ]


def _gvk(obj: Json) -> Gvk:
    return Gvk.parse(str(obj["apiVersion"]), str(obj["kind"]))


# The project as it was at a git revision, in a folder of its own for a while.
# Rejected: `git worktree`, which leaves a note of the folder in the repository where a test is
# killed.

# Made by installing and in no commit: the revision's roles get those of today.
_INSTALLED = (".collections", "collections")


def full_revision(project: Path, revision: str) -> str:
    """Its hash; `InputError` where there is no such one."""
    found = _git(project, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if found.returncode:
        raise InputError(
            f"`{revision}` is not a git revision of `{project}`",
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
