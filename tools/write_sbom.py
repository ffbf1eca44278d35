"""Write what an image consists of as a bill of materials.

    python tools/write_sbom.py COLLECTIONS_FOLDER > sbom.cdx.json        (in the Dockerfile)

Three kinds of rows: Python packages that are installed beside this Python, the collections, and the
packages of the system below them. CycloneDX 1.6, JSON, with the same bytes for the same content: no
time and no random number in it. Standard library only, because it runs where nothing but the product
is installed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any
from urllib.parse import quote

Component = dict[str, Any]

DPKG = Path("/var/lib/dpkg/status")
RELEASE = Path("/etc/os-release")


def main(collections: Path) -> None:
    """Print it."""
    components = [of_package(it) for it in distributions()]
    components += [of_collection(it) for it in collections.glob("ansible_collections/*/*")]
    if DPKG.exists():
        components += of_system(DPKG.read_text(), distribution(RELEASE.read_text()))
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


def of_system(status: str, distributor: str) -> Iterator[Component]:
    """The installed packages of a Debian or Ubuntu, from the text of dpkg's own list."""
    for paragraph in status.split("\n\n"):
        lines = [line for line in paragraph.splitlines() if not line.startswith(" ")]
        fields = dict(line.split(": ", 1) for line in lines if ": " in line)
        if fields.get("Status", "").endswith(" installed"):
            name, version = fields["Package"], fields["Version"]
            place = f"{distributor}/{quote(name)}@{quote(version, safe=':~')}"
            yield component(name, version, f"pkg:deb/{place}?arch={fields['Architecture']}")


def distribution(release: str) -> str:
    """Its name, such as `debian`, from the text of /etc/os-release."""
    return next(line[3:].strip('"') for line in release.splitlines() if line.startswith("ID="))


def component(name: str, version: str, url: str) -> Component:
    """One row."""
    return {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
