"""The parts of a project that a demo needs: CRDs and samples, wherever its layout keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall_dev.sources import crd_folder

# Says on a sample that simulated nodes cannot make it ready.
NEEDS = "rolecall.dev/needs"

_SAMPLES = "config/samples"


@dataclass(frozen=True, slots=True)
class Sample:
    file: Path
    gvk: Gvk
    name: str
    needs: str = ""  # what it needs that a simulated cluster does not have


@dataclass(frozen=True, slots=True)
class DemoProject:
    folder: Path
    crds: Path
    samples: tuple[Sample, ...]

    @property
    def kinds(self) -> tuple[Gvk, ...]:
        return tuple(dict.fromkeys(sample.gvk for sample in self.samples))

    @property
    def shown(self) -> tuple[Sample, ...]:
        """The samples that can become ready on simulated nodes."""
        return tuple(sample for sample in self.samples if not sample.needs)


def find_project(folder: Path) -> DemoProject:
    """The project in a folder; `InputError` names what is missing."""
    if not (folder / "watches.yaml").is_file():
        raise InputError(
            f"`{folder}` has no watches.yaml, so there is no operator to show",
            hint="change into the folder of a project",
        )
    crds = crd_folder(folder, "a demo")
    samples = _samples_in(folder / _SAMPLES)
    if not samples:
        raise InputError(f"`{folder / _SAMPLES}` has no sample to show")
    return DemoProject(folder, crds, samples)


def _samples_in(folder: Path) -> tuple[Sample, ...]:
    found = []
    for file in sorted(folder.glob("*.yaml")):
        if file.stem == "kustomization":
            continue
        for document in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            if document:
                metadata = document["metadata"]
                needs = (metadata.get("annotations") or {}).get(NEEDS, "")
                gvk = Gvk.parse(document["apiVersion"], document["kind"])
                found.append(Sample(file, gvk, metadata["name"], needs))
    return tuple(found)
