"""Writes figures down: JSON for whoever reckons, a plot for whoever looks, a page for whoever reads.

`bench/results/` is of the last bench on this machine and stays on it. A release's figures are kept:
`bench/release.json`, and made from it `docs/reference/bench.md` and its plot, which a test compares.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.figures import Figure, markdown
from bench.plot import plot

ROOT = Path(__file__).resolve().parents[1]
RELEASE = ROOT / "bench" / "release.json"
PAGE, PLOT = (ROOT / "docs" / "reference" / name for name in ("bench.md", "bench.svg"))
_PICTURE = "![Seconds from a CR to Successful, stock and warm](bench.svg)"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
CONVERSION = ROOT / "bench" / "conversion.json"
CONVERSION_MARKS = "<!-- conversion: begin -->", "<!-- conversion: end -->"

ADMISSION = ROOT / "bench" / "admission.json"
ADMISSION_MARKS = "<!-- admission: begin -->", "<!-- admission: end -->"
MANY = ROOT / "bench" / "many_crs.json"
MANY_MARKS = "<!-- many: begin -->", "<!-- many: end -->"

WAITS = ROOT / "bench" / "waits.json"
WAITS_MARKS = "<!-- waits: begin -->", "<!-- waits: end -->"
SKIP = ROOT / "bench" / "skip.json"
SKIP_MARKS = "<!-- skip: begin -->", "<!-- skip: end -->"
SHARDS = ROOT / "bench" / "shards.json"
SHARDS_MARKS = "<!-- shards: begin -->", "<!-- shards: end -->"
RECORD = ROOT / "bench" / "record.json"
RECORD_MARKS = "<!-- record: begin -->", "<!-- record: end -->"
GUIDE = ROOT / "docs" / "guides" / "page.md"
LOOKED_AT = ROOT / "bench" / "page.json"
LOOKED_AT_MARKS = "<!-- bench: begin -->", "<!-- bench: end -->"
RELIABILITY = ROOT / "docs" / "reliability.md"
SOAK = ROOT / "bench" / "soak.json"
SOAK_MARKS = "<!-- soak: begin -->", "<!-- soak: end -->"
CHURN = ROOT / "bench" / "churn.json"
CHURN_MARKS = "<!-- churn: begin -->", "<!-- churn: end -->"


def write_json(figures: Sequence[Figure], file: Path) -> None:
    """All values, and what they were measured on."""
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [asdict(figure) | {"median": figure.median} for figure in figures]
    file.write_text(json.dumps({"machine": _machine(), "figures": rows}, indent=1) + "\n")


def read_json(file: Path) -> tuple[dict[str, Any], list[Figure]]:
    """The machine and the figures of such a file."""
    content = json.loads(file.read_text())
    rows = ({key: row[key] for key in row if key != "median"} for row in content["figures"])
    return content["machine"], [Figure(**{**row, "values": tuple(row["values"])}) for row in rows]


def write_plot(figures: Sequence[Figure], file: Path) -> None:
    """Bars and lines as SVG."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(plot(figures))


def publish(figures: Sequence[Figure]) -> None:
    """Make these the figures that the docs show."""
    write_json(figures, RELEASE)
    write_plot(figures, PLOT)
    PAGE.write_text(page_of(RELEASE, PAGE.read_text()))


def publish_conversion(figures: Sequence[Figure]) -> None:
    """Make these what the docs show of conversions."""
    write_json(figures, CONVERSION)
    PAGE.write_text(page_with_conversion(PAGE.read_text()))


def publish_admission(figures: Sequence[Figure]) -> None:
    """Make these what the docs show of admission."""
    write_json(figures, ADMISSION)
    PAGE.write_text(page_with_admission(PAGE.read_text()))


def publish_many(figures: Sequence[Figure]) -> None:
    """Make these what the docs show of many CRs."""
    write_json(figures, MANY)
    PAGE.write_text(page_with_many(PAGE.read_text()))


def publish_waits(figures: Sequence[Figure]) -> None:
    """Make these what the docs show of runs that wait."""
    write_json(figures, WAITS)
    PAGE.write_text(page_with_waits(PAGE.read_text()))


def publish_shards(figures: Sequence[Figure]) -> None:
    """Make these what the docs show of replicas that divide the CRs."""
    write_json(figures, SHARDS)
    PAGE.write_text(page_with_shards(PAGE.read_text()))


def publish_record(figures: Sequence[Figure]) -> None:
    """Make these what the docs show of the record of a run."""
    write_json(figures, RECORD)
    PAGE.write_text(page_with_record(PAGE.read_text()))


def publish_skip(figures: Sequence[Figure]) -> None:
    """Make these what the docs show of runs that need not be made."""
    write_json(figures, SKIP)
    PAGE.write_text(page_with_skip(PAGE.read_text()))


def publish_page(figures: Sequence[Figure]) -> None:
    """Make these what the guide shows of the page that people look at."""
    write_json(figures, LOOKED_AT)
    GUIDE.write_text(guide_with_page(GUIDE.read_text()))


def publish_soak(figures: Sequence[Figure]) -> None:
    """Make these what the docs show of many runs of one engine."""
    write_json(figures, SOAK)
    RELIABILITY.write_text(reliability_with_soak(RELIABILITY.read_text()))


def publish_churn(figures: Sequence[Figure]) -> None:
    """Make these what the docs show of edits without end."""
    write_json(figures, CHURN)
    RELIABILITY.write_text(reliability_with_churn(RELIABILITY.read_text()))


def page_of(file: Path, text: str) -> str:
    """The page with the table of a file of figures."""
    return _with_table(file, text, (BEGIN, END), f"{_PICTURE}\n\n")


def page_with_conversion(text: str) -> str:
    """The page with the table of conversions."""
    return _with_table(CONVERSION, text, CONVERSION_MARKS, "")


def page_with_admission(text: str) -> str:
    """The page with the table of admission."""
    return _with_table(ADMISSION, text, ADMISSION_MARKS, "")


def page_with_many(text: str) -> str:
    """The page with the table of many CRs."""
    return _with_table(MANY, text, MANY_MARKS, "")


def page_with_waits(text: str) -> str:
    """The page with the table of runs that wait."""
    return _with_table(WAITS, text, WAITS_MARKS, "")


def page_with_shards(text: str) -> str:
    """The page with the table of replicas that divide the CRs."""
    return _with_table(SHARDS, text, SHARDS_MARKS, "")


def page_with_record(text: str) -> str:
    """The page with the table of the record."""
    return _with_table(RECORD, text, RECORD_MARKS, "")


def page_with_skip(text: str) -> str:
    """The page with the table of runs that need not be made."""
    return _with_table(SKIP, text, SKIP_MARKS, "")


def guide_with_page(text: str) -> str:
    """The guide with the table of what the page costs."""
    return _with_table(LOOKED_AT, text, LOOKED_AT_MARKS, "")


def reliability_with_soak(text: str) -> str:
    """The page with the table of the last soak."""
    return _with_table(SOAK, text, SOAK_MARKS, "")


def reliability_with_churn(text: str) -> str:
    """The page with the table of the last churn."""
    return _with_table(CHURN, text, CHURN_MARKS, "")


def _with_table(file: Path, text: str, marks: tuple[str, str], first: str) -> str:
    machine, figures = read_json(file)
    begin, end = marks
    before, _, rest = text.partition(begin)
    after = rest.partition(end)[2]
    words = ", ".join(f"{name} {value}" for name, value in machine.items())
    return f"{before}{begin}\n{first}{words}\n\n{markdown(figures)}{end}{after}"


def _machine() -> dict[str, Any]:
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    packages = {name: version(name) for name in ("ansible-core", "ansible-runner", "kubernetes")}
    return {"cores": os.cpu_count(), "Python": platform.python_version(), **packages, "load": load}
