"""Set up this clone: environment, packages, Ansible collections. Needs Python 3.11 with venv, no more.

    python3 tools/setup.py          (`make setup`)
    ANSIBLE_CORE=2.18 python3 tools/setup.py          (`make setup ANSIBLE_CORE=2.18`)

Another ansible-core than the one that fits this Python best stays until `ANSIBLE_CORE=default`.

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
from collections.abc import Callable, Mapping, Sequence
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
# The names by which `make` asks for any Python: then any that fits does.
UNSPECIFIC = "python3"
STARTED_OVER = (
    "ROLECALL_SETUP_STARTED_OVER"  # so that a Python that lies of itself starts no circle
)
NAME_IT = "name one: `make setup PYTHON=/path/to/it`"
LEAST_FREE_GB = 1.5  # the environment takes 0.7, a build of wheels some more
# What is different with another ansible-core: `lock/core/2.18.txt` and its like.
CORES = ROOT / "lock" / "core"
# Our distributions, the one first that all others need.
OWN_PROJECTS = tuple(f"{folder}pyproject.toml" for folder in ("base/", "warm/", "", "dev/"))
CHOSEN_CORE = VENV / ".stamps" / "ansible-core"


class SetupError(Exception):
    """One line that says what went wrong, one that says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        """Keep both."""
        super().__init__(f"error: {message}\nhint: {hint}")


def steps() -> list[tuple[str, str, Path, Callable[[], None]]]:
    """Name, what it follows from, what it makes, and the work; in order."""
    packages = key_of("lock/dev.txt", "lock/tools.txt", *core_files(chosen_core()))
    own = key_of(*OWN_PROJECTS)
    collections = key_of("requirements.yml", "lock/collections.toml")
    return [
        ("environment", environment_key(), PYTHON, make_environment),
        ("packages", packages, UV, install_packages),
        ("rolecall itself", own, VENV / "bin" / "rolecall", install_project),
        ("collections", collections, ROOT / ".collections", install_collections),
    ]


def main() -> None:
    """Do every step that is not done yet."""
    use_a_fitting_python(*sys.argv[1:2])
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


def use_a_fitting_python(refused: str = "") -> None:
    """Go on under another Python when this one is too old, or stands in for one that does not start."""
    if not refused and tuple(sys.version_info[:2]) >= OLDEST:
        return
    if not refused and STARTED_OVER in os.environ:
        raise SetupError(f"Python {dotted(sys.version_info)} is too old", NAME_IT)
    others = find_pythons()
    why = f"`{refused}` does not start, or is far too old"
    if not refused:
        why = f"Python {dotted(sys.version_info)} is too old"
    # `python3.13` may be a shim with nothing behind it, and be there where version managers put it.
    wanted = others.get(refused[len("python") :])
    if refused not in ("", UNSPECIFIC) and not wanted:
        raise SetupError(why, f"{here_are(others)}{NAME_IT}")
    if not others:
        raise SetupError(
            f"{why}, and no newer one was found on PATH or where version managers put them",
            f"install Python {dotted(OLDEST)} or newer with venv, or {NAME_IT}",
        )
    other = wanted or others[list(others)[-1]]
    say(f"{why}; taking {other}")
    os.environ[STARTED_OVER] = "1"
    os.execv(other, [other, str(Path(__file__).resolve())])  # noqa: S606  (no shell is wanted)


def warn_of_an_untried_python() -> None:
    """Packages of it may have no wheels yet."""
    if tuple(sys.version_info[:2]) > NEWEST_TRIED:
        say(
            f"warning: Python {dotted(sys.version_info)} is newer than any that was tried"
            f" ({dotted(OLDEST)} to {dotted(NEWEST_TRIED)}); if it fails, {NAME_IT}"
        )


def find_pythons() -> dict[str, str]:
    """The Pythons of this machine that fit, oldest first: version and path."""
    sys.path.insert(0, str(ROOT))
    from tools import pythons  # noqa: PLC0415  (a Python that is too old for it was rejected before)

    return pythons.find_pythons()


def here_are(others: Mapping[str, str]) -> str:
    """What there is instead."""
    found = ", ".join(f"{version} ({path})" for version, path in others.items())
    return f"this machine has {found}; " if found else ""


def dotted(version: Sequence[object]) -> str:
    """Major and minor."""
    return f"{version[0]}.{version[1]}"


def chosen_core() -> str:
    """The ansible-core that was asked for, now or before; empty: the one that fits this Python best."""
    asked = os.environ.get("ANSIBLE_CORE", "")
    if not asked and CHOSEN_CORE.exists():
        asked = CHOSEN_CORE.read_text()
    return "" if asked == "default" else asked


def core_files(core: str, python: Sequence[int] | None = None) -> list[str]:
    """The lock files of an ansible-core, over all others; none for the one that fits best."""
    if not core:
        return []
    path = CORES / f"{core}.txt"
    if not path.is_file():
        known = ", ".join(release for release, _ in known_cores())
        raise SetupError(
            f"ansible-core `{core}` is not one of {known}", "`make setup ANSIBLE_CORE=2.18`"
        )
    fitting = dict(known_cores())[core]
    version = dotted(python or sys.version_info)
    if version not in fitting:
        near = fitting[0] if version == dotted(OLDEST) else fitting[-1]
        raise SetupError(
            f"ansible-core {core} is for Python {fitting[0]} to {fitting[-1]}; this is {version}",
            f"`make setup PYTHON=python{near}`, or ANSIBLE_CORE=default for one that fits",
        )
    return [str(path.relative_to(ROOT))]


def known_cores() -> list[tuple[str, list[str]]]:
    """Releases of ansible-core, oldest first, each with its Pythons, as their lock files say."""
    found = []
    for path in CORES.glob("*.txt"):
        named = re.match(r"# Python 3\.(\d+) to 3\.(\d+)\n", path.read_text())
        if named:
            pythons = [f"3.{minor}" for minor in range(int(named[1]), int(named[2]) + 1)]
            found.append((path.stem, pythons))
    return sorted(found, key=lambda each: [int(part) for part in each[0].split(".")])


def environment_key() -> str:
    """Which Python the environment belongs to."""
    return key_of_python(sys.version_info[:2], sys.base_prefix)


def key_of_python(version: Sequence[int], prefix: str) -> str:
    """The same for any: its patch releases share environments."""
    return f"{tuple(version[:2])} {prefix}"


def make_environment() -> None:
    """Make `.venv`; one that works is kept, one whose Python is gone or another is made anew."""
    warn_of_an_untried_python()
    if VENV.exists() and environment_there() != environment_key():
        shutil.rmtree(VENV)
    if not PYTHON.exists():
        say(f"Python {'.'.join(map(str, sys.version_info[:3]))}: {sys.executable}")
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


def environment_there() -> str:
    """Which Python the environment that is there belongs to; empty where it does not work."""
    question = "import sys; print(*sys.version_info[:2], sys.base_prefix)"
    try:
        done = subprocess.run(
            [str(PYTHON), "-c", question], capture_output=True, text=True, check=False
        )
        major, minor, prefix = done.stdout.strip().split(" ", 2)
    except (OSError, ValueError):
        return ""
    return key_of_python((int(major), int(minor)), prefix)


def install_packages() -> None:
    """Exactly what the lock files name, checked by hash, with bytecode."""
    pip = [str(PYTHON), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    download([*pip, "--require-hashes", "-r", "lock/tools.txt"])
    sync = [str(UV), "pip", "sync", "--quiet", "--require-hashes", "--compile-bytecode"]
    download([*sync, "--python", str(PYTHON), "lock/dev.txt", "lock/tools.txt"])
    core = chosen_core()
    over = [str(UV), "pip", "install", "--quiet", "--require-hashes", "--no-deps"]
    for file in core_files(core):
        download([*over, "--compile-bytecode", "--python", str(PYTHON), "--requirement", file])
    CHOSEN_CORE.parent.mkdir(exist_ok=True)
    CHOSEN_CORE.write_text(core)
    forget("rolecall-itself")  # `sync` removes what no lock file names


def install_project() -> None:
    """Editable: the source trees are what runs."""
    install = [str(UV), "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    download([*install, "--python", str(PYTHON), *editable()])


def editable() -> list[str]:
    """Options of an installer for our own distributions."""
    return [f"--editable={(ROOT / project).parent}" for project in OWN_PROJECTS]


def install_collections() -> None:
    """Into `.collections`, by the environment's own Python, which knows YAML."""
    run(
        [str(PYTHON), "tools/install_collections.py"],
        "",
        "`make setup` goes on where it stopped",
    )
    sources = [str((ROOT / project).parent / "src") for project in OWN_PROJECTS]
    run([str(PYTHON), "-m", "compileall", "-q", "-j", "0", ".collections", *sources], "", "")


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
