"""A demo finds the parts of a project, or says which is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall_dev.demo import find_project

ROOT = Path(__file__).parents[3]
SAMPLE = "apiVersion: example.com/v1\nkind: Box\nmetadata:\n  name: one\n"


def project(folder: Path, crds: str = "crds") -> Path:
    (folder / "watches.yaml").write_text("[]\n")
    (folder / crds).mkdir(parents=True)
    samples = folder / "config/samples"
    samples.mkdir(parents=True, exist_ok=True)
    (samples / "box.yaml").write_text(SAMPLE)
    return folder


@pytest.mark.parametrize("layout", ["crds", "config/crd/bases"])
def test_crds_are_found_in_our_layout_and_in_the_sdks(tmp_path: Path, layout: str) -> None:
    found = find_project(project(tmp_path, layout))

    assert found.crds == tmp_path / layout
    assert found.kinds == (Gvk("example.com", "v1", "Box"),)


def test_sample_that_needs_more_than_simulated_nodes_is_not_shown(tmp_path: Path) -> None:
    project(tmp_path)
    text = SAMPLE.replace("one\n", "two\n  annotations: {rolecall.dev/needs: real nodes}\n")
    (tmp_path / "config/samples/two.yaml").write_text(text)

    assert [sample.name for sample in find_project(tmp_path).shown] == ["one"]


def test_kustomization_is_no_sample(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "config/samples/kustomization.yaml").write_text("resources: [box.yaml]\n")

    assert [sample.name for sample in find_project(tmp_path).samples] == ["one"]


@pytest.mark.parametrize(
    ("missing", "said"),
    [("watches.yaml", "no watches.yaml"), ("crds", "no CRDs"), ("config", "no sample")],
)
def test_missing_part_is_named(tmp_path: Path, missing: str, said: str) -> None:
    project(tmp_path)
    (tmp_path / missing).rename(tmp_path / "elsewhere")

    with pytest.raises(InputError, match=said):
        find_project(tmp_path)


def test_every_kind_of_this_project_has_a_sample_to_show() -> None:
    found = find_project(ROOT)

    assert len(found.samples) == len(list((ROOT / "crds").glob("*s.yaml")))
