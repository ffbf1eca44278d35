"""Which CRs are tested, and what is made before them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.errors import InputError
from rolecall.watches import WatchDefaults, load_watches
from rolecall_dev.proving.samples import CrSample, find_samples

GROUP = "compute.example.com"
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "token"}}


def cr(kind: str, name: str, **annotations: str) -> dict[str, Any]:
    metadata = {"name": name, "annotations": annotations}
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata}


def found(folder: Path, files: dict[str, list[dict[str, Any]]], kind: str = "") -> list[CrSample]:
    role = folder / "roles" / "machine" / "tasks"
    role.mkdir(parents=True)
    (role / "main.yml").write_text("[]\n")
    entry = {"group": GROUP, "version": "v1", "role": "machine"}
    rows = [{**entry, "kind": "Machine"}, {**entry, "kind": "Job"}]
    (folder / "watches.yaml").write_text(yaml.safe_dump(rows))
    samples = folder / "config" / "samples"
    samples.mkdir(parents=True)
    for name, objects in files.items():
        (samples / name).write_text(yaml.safe_dump_all(objects))
    watches = load_watches(folder / "watches.yaml", os.environ, WatchDefaults(), folder, ())[0]
    return find_samples(folder, watches, [kind] if kind else [], ())


def test_what_is_of_no_watched_kind_is_made_before(tmp_path: Path) -> None:
    (sample,) = found(tmp_path, {"machine.yaml": [SECRET, cr("Machine", "one")]})
    assert (sample.name, sample.before, sample.crs_before) == ("one", (SECRET,), ())


def test_sample_names_files_of_which_all_is_made_before_it(tmp_path: Path) -> None:
    machine = cr("Machine", "one")
    job = cr("Job", "reboot", **{"rolecall.dev/before": "machine.yaml"})
    files = {"machine.yaml": [SECRET, machine], "job.yaml": [job]}
    (sample,) = found(tmp_path, files, "Job")
    assert (sample.before, sample.crs_before) == ((SECRET,), (machine,))


def test_file_that_is_named_and_not_there_is_an_input_error(tmp_path: Path) -> None:
    job = cr("Job", "reboot", **{"rolecall.dev/before": "machines.yaml"})
    with pytest.raises(InputError, match=r"machines\.yaml: could not be read"):
        found(tmp_path, {"job.yaml": [job]})
