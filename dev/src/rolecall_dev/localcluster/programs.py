"""Which programs a control plane is made of, in which versions, and where they lie on this machine.

The pinned Go modules under `modules/` are the one truth: their go.mod names the versions, and the
hash of go.mod, go.sum and the build flags names the folder in the cache. So a cache can hold several
versions side by side, and a program of another version is never started by mistake.

Looked for in this order: a folder given by hand (`--assets`), `KUBEBUILDER_ASSETS`, then our cache.
Given folders are trusted as they are, each program on its own: setup-envtest's folder has etcd,
kube-apiserver and kubectl, and the rest still comes from the cache. Rejected: looking in PATH, where
a kubectl of any age answers to the name.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rolecall.errors import InputError

MODULES = Path(__file__).parent / "modules"
OUR_OWN = "own"  # in place of a version; the hash of the source distinguishes builds
_KUBERNETES_MODULES = ("kubernetes", "node")
_VERSION_PACKAGES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


@dataclass(frozen=True, slots=True)
class Program:
    """One program, and where its source is."""

    name: str
    module: str  # the folder under modules/ that pins it
    package: str  # the argument of `go build`
    cold_s: int  # measured build time with an empty Go cache, 2 cores: for "what is left"
    pinned: str = ""  # the module whose version counts, where the package is our own main.go


# In the order of building: what takes longest comes first, since it fills Go's cache for the others.
PROGRAMS: tuple[Program, ...] = (
    Program("kube-apiserver", "kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver", 201),
    Program(
        "kube-controller-manager", "kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager", 40
    ),
    Program("kube-scheduler", "kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler", 13),
    Program("kubectl", "kubernetes", "k8s.io/kubernetes/cmd/kubectl", 13),
    Program("etcd", "etcd", "go.etcd.io/etcd/server/v3", 20),
    Program("etcdctl", "etcd", "go.etcd.io/etcd/etcdctl/v3", 6),
    Program("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok", 59),
)
# etcdctl is for people who look into the data; no cluster needs it to run.
NEEDED = tuple(program.name for program in PROGRAMS if program.name != "etcdctl")


def version_of(program: Program) -> str:
    """The version that go.mod pins, such as `v1.36.3`; `OUR_OWN` for what needs no module at all."""
    text = (MODULES / program.module / "go.mod").read_text()
    source = program.pinned or program.package
    # A module's path is the start of its package's path, and pinned on a line of its own.
    candidates: list[str] = [
        version
        for path, version in re.findall(r"^(?:require)?\s+(\S+) (v\S+)", text, re.MULTILINE)
        if source.startswith(path)
    ]
    return max(candidates, key=len, default=OUR_OWN)


def required_go(module: str) -> tuple[int, int]:
    """The oldest Go that can build the module."""
    text = (MODULES / module / "go.mod").read_text()
    found = re.search(r"^go (\d+)\.(\d+)", text, re.MULTILINE)
    assert found is not None, f"{module}/go.mod has no Go version"
    return int(found[1]), int(found[2])


def linker_flags(program: Program) -> str:
    """Stripped, and with the version inside: without it the API server reports nonsense."""
    flags = ["-s", "-w"]
    version = version_of(program)
    if program.module in _KUBERNETES_MODULES:
        major, minor, _ = version.lstrip("v").split(".", 2)
        stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
        stamps["gitTreeState"] = "clean"
        for package in _VERSION_PACKAGES:
            flags += [f"-X {package}.{name}={value}" for name, value in stamps.items()]
    return " ".join(flags)


def default_cache(environment: Mapping[str, str] = os.environ) -> Path:
    """`ROLECALL_CACHE`, or `rolecall` under the user's cache folder."""
    if chosen := environment.get("ROLECALL_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").expanduser().absolute() / "rolecall"


def cached_path(program: Program, cache: Path) -> Path:
    """Where the cache keeps this program in this version, whether it is there or not."""
    digest = hashlib.sha256()
    module = MODULES / program.module
    for file in (module / "go.mod", module / "go.sum", *sorted(module.rglob("*.go"))):
        digest.update(file.read_bytes() if file.exists() else b"")
    digest.update(linker_flags(program).encode())
    digest.update(f"{platform.system()} {platform.machine()}".encode())
    folder = f"{program.module}-{version_of(program)}-{digest.hexdigest()[:12]}"
    return cache / "programs" / folder / program.name


@dataclass(frozen=True, slots=True)
class Binaries:
    paths: Mapping[str, Path]

    def __getitem__(self, name: str) -> Path:
        return self.paths[name]

    @property
    def missing(self) -> tuple[str, ...]:
        """The programs that a cluster needs and that are missing here."""
        return tuple(name for name in NEEDED if name not in self.paths)

    @property
    def kubernetes_version(self) -> str:
        """The version that we pin; programs that were given by hand may be of another."""
        return version_of(PROGRAMS[0])

    def require(
        self, needed: Iterable[str] = NEEDED, command: str = "rolecall cluster build"
    ) -> Binaries:
        """These, or an error that says what is missing and how to get it."""
        if missing := [name for name in needed if name not in self.paths]:
            names = ", ".join(f"`{name}`" for name in missing)
            raise MissingProgramsError(
                f"control-plane programs were not found: {names}",
                hint=f"`{command}` builds them (once, takes some minutes)",
            )
        return self


class MissingProgramsError(InputError):
    """A cluster was asked for, and its programs have not been built."""


def find_binaries(
    assets: Path | None = None,
    *,
    cache: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    programs: Iterable[Program] = PROGRAMS,
) -> Binaries:
    """Those programs that this machine has; a folder given by hand must exist."""
    if assets is not None and not assets.is_dir():
        raise InputError(
            f"assets folder `{assets}` was not found",
            hint="leave `--assets` out to use the programs that `rolecall cluster build` made",
        )
    folders = [assets] if assets else []
    if given := environment.get("KUBEBUILDER_ASSETS"):
        folders.append(Path(given))
    cache = cache or default_cache(environment)
    found: dict[str, Path] = {}
    for program in programs:
        candidates = [folder / program.name for folder in folders] + [cached_path(program, cache)]
        if path := _first_program(candidates):
            found[program.name] = path
    return Binaries(found)


def _first_program(candidates: Iterable[Path]) -> Path | None:
    for path in candidates:
        if path.is_file() and os.access(path, os.X_OK):
            return path.absolute()
    return None
