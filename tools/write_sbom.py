"""Write what is installed beside this Python, and the collections, as a bill of materials.

    python tools/write_sbom.py COLLECTIONS_FOLDER > sbom.cdx.json        (in the Dockerfile)

CycloneDX 1.6, JSON, with the same bytes for the same packages: no time and no random number in it.
Standard library only, because it runs where nothing but the product is installed.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

Component = dict[str, Any]


def main(collections: Path) -> None:
    """Print it."""
    components = [of_package(it) for it in distributions()]
    components += [of_collection(it) for it in collections.glob("ansible_collections/*/*")]
    print(json.dumps(document(components), indent=2))


def document(components: list[Component]) -> dict[str, Any]:
    """The whole bill, in a fixed order."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "components": sorted(components, key=lambda it: str(it["bom-ref"])),
    }


def of_package(package: Distribution) -> Component:
    """A Python package."""
    name = package.metadata["Name"].lower().replace("_", "-")
    return component(name, package.version, f"pkg:pypi/{name}@{package.version}")


def of_collection(folder: Path) -> Component:
    """An Ansible collection, from its manifest."""
    info = json.loads((folder / "MANIFEST.json").read_text())["collection_info"]
    name = f"{info['namespace']}.{info['name']}"
    return component(
        name, info["version"], f"pkg:generic/ansible-collection/{name}@{info['version']}"
    )


def component(name: str, version: str, url: str) -> Component:
    """One row."""
    return {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
