"""What was shipped before: versions of CRDs that this bundle has no more.

The last commit knows the bundle that was there. Where git is not, or knows none, nothing is told.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from rolecall.json_object import Json

_FOLDER = "bundle/manifests"
_COMMAND_S = 10


def dropped_versions(root: Path, crds: Mapping[str, Json]) -> Iterator[str]:
    """By the bundle of the last commit."""
    for name, crd in sorted(crds.items()):
        file = f"{crd['spec']['group']}_{crd['spec']['names']['plural']}.yaml"
        there = {version["name"] for version in crd["spec"]["versions"]}
        for version in _versions_before(root, f"{_FOLDER}/{file}"):
            if version["name"] not in there:
                how = "stored" if version.get("storage") else "may have been stored"
                yield (
                    f"CRD `{name}` has no `{version['name']}` any more, at which objects were"
                    f" {how}: clusters refuse it until `rolecall migrate-storage` was run there"
                )


def _versions_before(root: Path, file: str) -> list[Json]:
    try:
        said = subprocess.run(
            ["git", "-C", str(root), "show", f"HEAD:./{file}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_COMMAND_S,
        )
        found = yaml.safe_load(said.stdout) if said.returncode == 0 else None
        versions: list[Json] = found["spec"]["versions"] if found else []
    except (OSError, subprocess.TimeoutExpired, yaml.YAMLError, LookupError, TypeError):
        return []
    return versions
