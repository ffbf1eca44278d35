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


def page_of(file: Path, text: str) -> str:
    """The page with the table of a file of figures."""
    machine, figures = read_json(file)
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    words = ", ".join(f"{name} {value}" for name, value in machine.items())
    return f"{before}{BEGIN}\n{_PICTURE}\n\n{words}\n\n{markdown(figures)}{END}{after}"


def _machine() -> dict[str, Any]:
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    packages = {name: version(name) for name in ("ansible-core", "ansible-runner", "kubernetes")}
    return {"cores": os.cpu_count(), "Python": platform.python_version(), **packages, "load": load}
