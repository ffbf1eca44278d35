"""The figures that the docs show are those that were measured, and come from nowhere else."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from bench import (
    churn,
    conversion,
    many_crs,
    page,
    publish,
    record_cost,
    shards,
    skip,
    soak,
    waits,
)
from bench.figures import Figure, failed, limited, markdown, table
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
    _, figures = publish.read_json(publish.RELEASE)
    assert plot(figures) == publish.PLOT.read_text()


@pytest.mark.parametrize("kept", publish.TABLES, ids=lambda kept: kept.file.stem)
def test_docs_show_the_figures_that_were_kept(kept: publish.Table) -> None:
    text = kept.page.read_text()
    assert all(mark in text for mark in kept.marks)
    assert kept.shown_in(text) == text


def test_figures_survive_being_written_down(tmp_path: Path) -> None:
    publish.write_json(FIGURES, tmp_path / "x.json")
    origins, figures = publish.read_json(tmp_path / "x.json")
    assert figures == FIGURES
    assert len(origins) == len(FIGURES)
    assert all(each.date and each.commit and "cores" in each.machine for each in origins)


# What each bench promises, by the file of its figures; the others promise nothing.
JUDGED: dict[str, Callable[[list[Figure]], list[Figure]]] = {
    "waits": lambda figures: waits.judged(figures, 20),
    "page": page.judged,
    "record": record_cost.judged,
    "shards": shards.judged,
    "soak": soak.judged,
    "churn": churn.judged,
    "conversion": lambda figures: [*conversion.judged(figures[:3]), *figures[3:]],
}
# Over their limits when they were measured last; mend the engine, measure again, take them out.
KNOWN_TO_FAIL = {
    "slots that runs leave while they wait: 20 CRs ready",
    "readers: memory above the same engine without a page",
    "churn, 20 CRs, 20 edits/s for 60 min: engine, private memory",
}


@pytest.mark.parametrize("kept", publish.TABLES, ids=lambda kept: kept.file.stem)
def test_figures_that_were_kept_have_the_limits_of_their_bench(kept: publish.Table) -> None:
    _, figures = publish.read_json(kept.file)
    bare = [replace(figure, limit=None) for figure in figures]
    assert JUDGED.get(kept.file.stem, list)(bare) == figures


@pytest.mark.parametrize("kept", publish.TABLES, ids=lambda kept: kept.file.stem)
def test_page_says_failed_where_a_figure_is_over_its_limit(kept: publish.Table) -> None:
    rows = json.loads(kept.file.read_text())["figures"]
    lines = kept.page.read_text().splitlines()
    for row in rows:
        (line,) = [each for each in lines if each.startswith(f"| {row['name']} |")]
        reported = next((word for word in ("passed", "FAILED") if f": {word} |" in line), "")
        assert reported == row["verdict"], line
        if row["limit"] is None:
            assert reported == ""
        elif not row["is_course"]:
            judged = max(row["values"]) if row["judges_most"] else row["median"]
            assert reported == ("passed" if judged <= row["limit"] else "FAILED"), line
        assert row["date"] and row["commit"] and row["machine"]
        assert not re.search(r"\|\s*-\d", line), "an amount below zero"


class _ParsedError(Exception):
    """The flags are known, and nothing needs to be measured."""


def defaults(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> argparse.Namespace:
    """The flags of a bench that is started without any."""
    parse, found = argparse.ArgumentParser.parse_args, []

    def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
        found.append(parse(parser, []))
        raise _ParsedError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parsed)
    with pytest.raises(_ParsedError):
        bench.main()
    (flags,) = found
    return flags


@pytest.mark.parametrize(
    ("bench", "name", "values"),
    [
        (churn, "churn, {crs} CRs, {rate:g} edits/s for {minutes:g} min: runs", None),
        (conversion, "GET, idle: v1", "requests"),
        (many_crs, "{crs} CRs: listed and queued", None),
        (many_crs, "edit to Successful, idle", "edits"),
        (record_cost, "Four, edited: CPU without", "pairs"),
        (skip, "{crs} CRs after a restart, run: until settled", None),
        (waits, "slots that runs keep while they wait: {crs} CRs ready", None),
    ],
)
def test_figures_are_of_the_size_that_a_bench_has_without_flags(
    bench: ModuleType, name: str, values: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = vars(defaults(bench, monkeypatch))
    figures = [each for kept in publish.TABLES for each in publish.read_json(kept.file)[1]]
    (figure,) = (each for each in figures if each.name == name.format(**flags))
    assert values is None or len(figure.values) == flags[values]


def test_page_replicas_and_soak_are_of_the_size_that_their_benches_have_without_flags(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, figures = publish.read_json(publish.SOAK.file)
    least = defaults(soak, monkeypatch).runs
    runs = {found[1] for each in figures if (found := re.match(r"soak, (\d+) runs: ", each.name))}
    assert [int(count) >= least for count in runs] == [True]
    monkeypatch.undo()
    looked = defaults(page, monkeypatch)
    guide = publish.LOOKED_AT.page.read_text()
    assert f"{looked.crs:,} objects, of which" in guide
    assert f"and {looked.readers} readers" in guide
    monkeypatch.undo()
    assert f"make {defaults(shards, monkeypatch).crs} CRs of `Four`" in publish.PAGE.read_text()


def test_figures_over_their_limits_are_those_that_are_known() -> None:
    found = {
        figure.name for kept in publish.TABLES for figure in failed(publish.read_json(kept.file)[1])
    }
    assert found == KNOWN_TO_FAIL


def test_limit_without_a_figure_is_an_error() -> None:
    with pytest.raises(ValueError, match="no figure has the name"):
        limited(FIGURES, {"Four: warm": 1.0})


def test_difference_below_zero_is_shown_as_none() -> None:
    below = Figure("memory above it", "MB", (-1.3, -0.2), is_difference=True, limit=10.0)
    assert "| none | none | 2 | MB | at most 10: passed |" in markdown([below])
    above = replace(below, values=(-1.3, 20.0), judges_most=True)
    assert "| 9.350 | none | 2 | MB | at most 10: FAILED |" in markdown([above])


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
    assert "| Four: warm, wall | 0.100 | 0.090 | 3 | s |  |" in first
    assert first.startswith("above\n") and first.endswith("\nbelow\n")


def test_plot_is_well_formed_and_table_aligned(tmp_path: Path) -> None:
    ElementTree.fromstring(plot(FIGURES))
    head, *rows = table(FIGURES).splitlines()
    ends = [head.index(word) + len(word) for word in ("median", "minimum", "runs")]
    for figure, row in zip(FIGURES, rows, strict=True):
        assert all(
            row[:end].endswith(f"  {cell}") for end, cell in zip(ends, figure.cells, strict=True)
        )
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
def test_soak_reports_growth_from_warm_up_and_from_moments(
    values: list[float], is_flat: bool
) -> None:
    course = Figure("engine, memory", "MB PSS", tuple(values), is_course=True)
    assert growth_of(course).is_flat is is_flat
