"""The page of times has a row for each kind and a column for each step of its bench."""

from __future__ import annotations

import yaml

from tests.e2e.own.cases import CASES
from tests.e2e.own.life import STEPS
from tests.unit.house.documents import ROOT

_PAGE = ROOT / "docs" / "reference" / "kind-times.md"
_WITHOUT_CHILDREN = "MachineOperation"


def rows() -> list[list[str]]:
    """Cells of the table, without its ruler."""
    lines = [line for line in _PAGE.read_text().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_columns_are_the_steps_of_the_bench() -> None:
    assert rows()[0] == ["kind", *STEPS]


def test_rows_are_the_kinds_of_this_repository() -> None:
    documents = [yaml.safe_load(file.read_text()) for file in (ROOT / "crds").glob("*.yaml")]
    kinds = {each["spec"]["names"]["kind"] for each in documents if each["kind"] != "Kustomization"}
    listed = [kind for kind, *_ in rows()[1:]]
    assert sorted(listed) == sorted(kinds)
    assert set(listed) == {case.gvk.kind for case in CASES} | {_WITHOUT_CHILDREN}


def test_each_step_of_a_kind_has_its_seconds() -> None:
    for kind, *cells in rows()[1:]:
        without = (
            {"update", "child deleted", "child edited"} if kind == _WITHOUT_CHILDREN else set()
        )
        empty = {step for step, cell in zip(STEPS, cells, strict=True) if not cell}
        assert empty == without, kind
        assert all(float(cell) > 0 for cell in cells if cell)
