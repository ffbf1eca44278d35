"""Set up this clone: environment, packages, Ansible collections. Needs Python 3.11 with venv, no more.

    python3 tools/setup.py          (`make setup`)

What is there already is not done again: each step leaves a stamp in `.venv`, keyed by the content of
the files that it follows from. A step that fails leaves no stamp, so the next run takes it up again.
Standard library only, and readable by an old Python, so that it can say that it is too old.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
OLDEST = (3, 11)
NEWEST_TRIED = (3, 14)
# What installers say about the network somewhere above a last line that blames a package.
NETWORK = re.compile(
    "Failed to establish a new connection[^'\"]*|Temporary failure in name resolution"
    "|Name or service not known|dns error|[Cc]onnection refused|[Tt]imed out|CERTIFICATE_VERIFY_FAILED"
)
LEAST_FREE_GB = 1.5  # the environment takes 0.7, a build of wheels some more


class SetupError(Exception):
    """One line that says what went wrong, one that says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        """Keep both."""
        super().__init__(f"error: {message}\nhint: {hint}")


def steps() -> list[tuple[str, str, Path, Callable[[], None]]]:
    """Name, what it follows from, what it makes, and the work; in order."""
    packages = key_of("lock/dev.txt", "lock/tools.txt")
    collections = key_of("requirements.yml", "lock/collections.toml")
    return [
        ("environment", environment_key(), PYTHON, make_environment),
        ("packages", packages, UV, install_packages),
        ("rolecall itself", key_of("pyproject.toml"), VENV / "bin" / "rolecall", install_project),
        ("collections", collections, ROOT / ".collections", install_collections),
    ]


def main() -> None:
    """Do every step that is not done yet."""
    use_a_fitting_python()
    is_new = False  # the environment: then nothing in it is done yet, whatever stamps say
    for name, key, product, do in steps():
        stamp = VENV / ".stamps" / name.replace(" ", "-")
        if not is_new and product.exists() and stamp.exists() and stamp.read_text() == key:
            continue
        is_new = is_new or name == "environment"
        began = time.monotonic()
        check_disk()
        do()
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(key)
        say(f"{name:<16} {time.monotonic() - began:6.1f} s")


def use_a_fitting_python() -> None:
    """Go on under a newer Python when this one is too old and there is one."""
    # Asked this way, a type checker does not conclude that the rest is never reached.
    if tuple(sys.version_info[:2]) >= OLDEST:
        return
    for minor in range(NEWEST_TRIED[1], OLDEST[1] - 1, -1):
        other = shutil.which(f"python3.{minor}")
        if other:
            os.execv(other, [other, *sys.argv])  # noqa: S606  (no shell is wanted)
    raise SetupError(
        f"Python {dotted(sys.version_info)} is too old, and no newer one was found",
        f"install Python {dotted(OLDEST)} or newer, or name it: `make setup PYTHON=/path/to/it`",
    )


def dotted(version: Sequence[object]) -> str:
    """Major and minor."""
    return f"{version[0]}.{version[1]}"


def environment_key() -> str:
    """Which Python the environment belongs to."""
    return f"{sys.version_info[:2]} {sys.base_prefix}"


def make_environment() -> None:
    """Make `.venv`; one that works is kept, one whose Python is gone is made anew."""
    if VENV.exists() and not works([str(PYTHON), "-c", ""]):
        shutil.rmtree(VENV)
    if not PYTHON.exists():
        run(
            [sys.executable, "-m", "venv", str(VENV)],
            "the environment `.venv` could not be made",
            "install the venv module (Debian, Ubuntu: `apt install python3-venv`)",
        )
    if not works([str(PYTHON), "-m", "pip", "--version"]):
        run(
            [str(PYTHON), "-m", "ensurepip"],
            "pip could not be put into `.venv`",
            "install the venv module (Debian, Ubuntu: `apt install python3-venv`)",
        )


def install_packages() -> None:
    """Exactly what the lock files name, checked by hash, with bytecode."""
    pip = [str(PYTHON), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    download([*pip, "--require-hashes", "-r", "lock/tools.txt"])
    sync = [str(UV), "pip", "sync", "--quiet", "--require-hashes", "--compile-bytecode"]
    download([*sync, "--python", str(PYTHON), "lock/dev.txt", "lock/tools.txt"])
    forget("rolecall-itself")  # `sync` removes what no lock file names


def install_project() -> None:
    """Editable: the source tree is what runs."""
    install = [str(UV), "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    download([*install, "--python", str(PYTHON), "--editable", "."])


def install_collections() -> None:
    """Into `.collections`, by the environment's own Python, which knows YAML."""
    run(
        [str(PYTHON), "tools/install_collections.py"],
        "",
        "`make setup` goes on where it stopped",
    )
    run([str(PYTHON), "-m", "compileall", "-q", "-j", "0", ".collections", "src"], "", "")


def download(command: list[str]) -> None:
    """Run a command that needs a package index."""
    run(
        command,
        "packages could not be installed",
        "check the network (or PIP_INDEX_URL and UV_INDEX_URL), then `make setup` again",
    )


def run(command: list[str], message: str, hint: str) -> None:
    """Run quietly; on failure the last line of its words is the cause."""
    result = subprocess.run(
        command,
        cwd=ROOT,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if result.returncode == 0:
        if result.stdout.strip():
            say(result.stdout.strip())
        return
    lines = [line.strip() for line in result.stdout.splitlines() if line.strip()] or ["no reason"]
    if not message:  # the tool prints errors in this same shape
        sys.exit(result.stdout.strip())
    if "No space left on device" in result.stdout:
        raise SetupError("the disk is full", "make room, then `make setup` again")
    network = NETWORK.search(result.stdout)
    raise SetupError(f"{message}: {network[0] if network else lines[-1][:300]}", hint)


def works(command: list[str]) -> bool:
    """Whether a command can be run and succeeds."""
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def clean_environment() -> dict[str, str]:
    """Bytecode is wanted here whatever the shell says: without it every run starts twice as slow."""
    kept = dict(os.environ)
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV"):
        kept.pop(name, None)
    return kept


def check_disk() -> None:
    """Before a step, so that it does not stop in the middle."""
    free_gb = shutil.disk_usage(ROOT).free / 1e9
    if free_gb < LEAST_FREE_GB:
        raise SetupError(
            f"{free_gb:.1f} GB of disk are free, and set-up needs {LEAST_FREE_GB}",
            "make room, then `make setup` again",
        )


def key_of(*files: str) -> str:
    """The content of files, as a short text."""
    digest = hashlib.sha256()
    for file in files:
        digest.update((ROOT / file).read_bytes())
    return digest.hexdigest()


def forget(stamp: str) -> None:
    """Let a later step run again."""
    path = VENV / ".stamps" / stamp
    if path.exists():
        path.unlink()


def say(line: str) -> None:
    """To people."""
    print("setup: " + line, flush=True)


if __name__ == "__main__":
    try:
        main()
    except SetupError as error:
        sys.exit(str(error))
