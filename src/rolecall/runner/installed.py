"""What is installed here for runs, and which way they go; nothing that costs time is imported.

For `rolecall version`, and for verbs that start runs: they say in one line what is missing, instead of
letting the first play fail with a message of Ansible's.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from rolecall.errors import InputError
from rolecall.watches import search_paths

_CORE, _CLIENT, _WARM = "ansible-core", "kubernetes", "rolecall-warm"
NO_WARM_HOST = f"{_WARM} is not installed"
OLDEST_CORE = (2, 18)
# Newer ones are used all the same: the warm way proves itself first.
NEWEST_CORE = (2, 21)


def require_installed() -> list[str]:
    """Raise where no play can run here; what only some plays need comes back as warnings."""
    version = version_of(_CORE)
    if not version:
        raise InputError(
            f"ansible-core is not installed for {sys.executable}, so no play can run",
            hint=_install(_CORE),
        )
    if _release(version) < OLDEST_CORE:
        raise InputError(
            f"ansible-core {version} is too old: plays need {_dotted(OLDEST_CORE)} or newer",
            hint=_install(f"--upgrade {_CORE}"),
        )
    if not version_of(_CLIENT):
        return [
            f"the Kubernetes client is not installed for {sys.executable}, so tasks of"
            f" kubernetes.core will fail; {_install(_CLIENT)} installs it"
        ]
    return []


def why_stock() -> str:
    """Why runs cannot be warm here, in words for people; empty where they are."""
    if reason := why_no_warm_host():
        return reason
    version = version_of(_CORE)
    if not version:
        return "ansible-core is not installed"
    if _release(version) < OLDEST_CORE:
        return f"ansible-core {version} is older than {_dotted(OLDEST_CORE)}"
    if not version_of(_CLIENT):
        return "the Kubernetes client is not installed"
    if unknown := _unknown():
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        newer = (
            ", newer than any that rolecall was tested with"
            if _release(version) > NEWEST_CORE
            else ""
        )
        return (
            f"ansible-core {version}{newer}: {unknown[0]}{more};"
            " the operator tests itself with it at its start, and then runs plays warm"
        )
    return ""


def why_no_warm_host() -> str:
    """Why no warm host can be started on this machine; empty where one can."""
    if not sys.platform.startswith("linux"):
        return f"warm runs need Linux; this is {sys.platform}"
    return "" if warm_host() else f"{NO_WARM_HOST}: {_install(_WARM)} installs it"


def warm_host() -> Path | None:
    """The program of the warm host; None where its distribution is not installed.

    It is found and not imported: what imports Ansible runs in processes of its own.
    """
    package = importlib.util.find_spec("rolecall_warm")
    return Path(package.origin).with_name("__main__.py") if package and package.origin else None


def version_of(distribution: str) -> str:
    """Its version; empty where it is not installed, or half."""
    try:
        return metadata.version(distribution) or ""
    except (metadata.PackageNotFoundError, KeyError):
        return ""


def find_collection(
    name: str, environment: Mapping[str, str], project: Path
) -> tuple[str, Path] | None:
    """Version and folder of the collection that plays of this project would find first."""
    known = search_paths(environment, project, project).collections.places
    for path in (*(place.path for place in known), *map(Path, sys.path)):
        place = path.parent if path.name == "ansible_collections" else path
        folder = place / "ansible_collections" / name.replace(".", "/")
        if folder.is_dir():
            return _version_in(folder), folder
    return None


def _unknown() -> list[str]:
    command = [sys.executable, "-P", str(warm_host()), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:  # whatever an unknown ansible-core does to it is an answer
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        return [f"looking at it failed: {last[0]}"]
    unknown: list[str] = json.loads(done.stdout)
    return unknown


def _version_in(folder: Path) -> str:
    try:
        manifest = json.loads((folder / "MANIFEST.json").read_text(encoding="utf-8"))
        return str(manifest["collection_info"]["version"])
    except (OSError, ValueError, LookupError):
        return "(no MANIFEST.json)"


def _release(version: str) -> tuple[int, ...]:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else ()


def _dotted(release: tuple[int, ...]) -> str:
    return ".".join(map(str, release))


def _install(what: str) -> str:
    """The command; environments that uv made have no pip."""
    if _has_pip():
        return f"`{sys.executable} -m pip install {what}`"
    return f"`uv pip install --python {sys.executable} {what}`"


def _has_pip() -> bool:
    return importlib.util.find_spec("pip") is not None
