"""The figures that the docs show are those that were measured, and come from nowhere else."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bench import publish
from bench.figures import Figure, table
from bench.growth import growth_of
from bench.plot import plot

FIGURES = [
    Figure("Four: stock, wall", "s", (2.5, 2.4, 2.6)),
    Figure("Four: warm, wall", "s", (0.1, 0.09, 0.12)),
    Figure("Four: warm, 2 at a time", "runs/s", (15.0,)),
    Figure("soak, 100 runs: <memory>", "MB PSS", (90.0, 91.0, 90.5), is_course=True),
]


def test_page_shows_the_release_figures() -> None:
    text = publish.PAGE.read_text()
    assert publish.page_with_release(text) == text
    _machine, figures = publish.read_json(publish.RELEASE)
    assert plot(figures) == publish.PLOT.read_text()


@pytest.mark.parametrize("kept", publish.TABLES, ids=lambda kept: kept.file.stem)
def test_docs_show_the_figures_that_were_kept(kept: publish.Table) -> None:
    text = kept.page.read_text()
    assert all(mark in text for mark in kept.marks)
    assert kept.shown_in(text) == text


def test_figures_survive_being_written_down(tmp_path: Path) -> None:
    publish.write_json(FIGURES, tmp_path / "x.json")
    machine, figures = publish.read_json(tmp_path / "x.json")
    assert figures == FIGURES
    assert machine["cores"]


def test_publishing_again_replaces_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RELEASE", "PAGE", "PLOT"):
        monkeypatch.setattr(publish, name, tmp_path / name)
    # The page says how busy the machine was, and that may change between the two.
    monkeypatch.setattr(os, "getloadavg", lambda: (1.0, 1.0, 1.0))
    publish.PAGE.write_text("above\n<!-- figures: begin -->\n<!-- figures: end -->\nbelow\n")
    publish.publish(FIGURES)
    first = publish.PAGE.read_text()
    publish.publish(FIGURES)
    assert publish.PAGE.read_text() == first
    assert "| Four: warm, wall | 0.100 | 0.090 | 3 | s |" in first
    assert first.startswith("above\n") and first.endswith("\nbelow\n")


def test_plot_is_well_formed_and_table_aligned(tmp_path: Path) -> None:
    ElementTree.fromstring(plot(FIGURES))
    assert len({len(line.split("  ")[0]) for line in table(FIGURES).splitlines()[1:]}) >= 1
    assert "first 90.0" in table(FIGURES)


@pytest.mark.parametrize(
    ("values", "is_flat"),
    [
        ([40, 45, *[50] * 18], True),  # warm-up is none
        ([50] * 10 + [51, 60] + [50] * 8, True),  # nor is a moment
        ([50 + 0.3 * number for number in range(20)], False),
        ([50] * 12 + [53] * 8, False),
    ],
)
def test_soak_tells_growth_from_warm_up_and_from_moments(
    values: list[float], is_flat: bool
) -> None:
    course = Figure("engine, memory", "MB PSS", tuple(values), is_course=True)
    assert growth_of(course).is_flat is is_flat
