"""Publishes figures: JSON for programs, a plot, and a page of the docs.

`bench/results/` is of the last bench on this machine and stays on it. A release's figures are kept:
`bench/release.json`, and made from it `docs/reference/bench.md` and its plot, which a test compares.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.figures import Figure, failed, markdown
from bench.plot import plot

ROOT = Path(__file__).resolve().parents[1]
RELEASE = ROOT / "bench" / "release.json"
PAGE, PLOT = (ROOT / "docs" / "reference" / name for name in ("bench.md", "bench.svg"))
_PICTURE = "![Seconds from a CR to Successful, stock and warm](bench.svg)"

_ORIGIN = ("date", "commit", "machine")
_FIGURE = ("name", "unit", "values", "is_course", "is_difference", "judges_most", "limit")


@dataclass(frozen=True, slots=True)
class Table:
    """Figures that were kept, and the place of a page that shows them: between two marks."""

    file: Path
    page: Path
    mark: str

    @property
    def marks(self) -> tuple[str, str]:
        """What the page has before and after the table."""
        return f"<!-- {self.mark}: begin -->", f"<!-- {self.mark}: end -->"

    def publish(self, figures: Sequence[Figure]) -> None:
        """Make these the figures that the page shows."""
        write_json(figures, self.file)
        self.page.write_text(self.shown_in(self.page.read_text()))

    def shown_in(self, text: str, first: str = "") -> str:
        """The text of the page with the table of these figures."""
        origins, figures = read_json(self.file)
        begin, end = self.marks
        before, _, rest = text.partition(begin)
        after = rest.partition(end)[2]
        words = "; ".join(dict.fromkeys(map(str, origins)))
        wrong = failed(figures)
        note = f"\n\n**FAILED**: {len(wrong)} over the limit" if wrong else ""
        return f"{before}{begin}\n{first}{words}{note}\n\n{markdown(figures)}{end}{after}"


def _table(name: str, page: Path, mark: str = "") -> Table:
    return Table(ROOT / "bench" / f"{name}.json", page, mark or name)


ADMISSION = _table("admission", PAGE)
CONVERSION = _table("conversion", PAGE)
MANY_CRS = _table("many_crs", PAGE, "many")
RECORD = _table("record", PAGE)
SHARDED = _table("shards", PAGE)
SKIP = _table("skip", PAGE)
WAITS = _table("waits", PAGE)
LOOKED_AT = _table("page", ROOT / "docs" / "guides" / "page" / "cost.md", "bench")
RELIABILITY = ROOT / "docs" / "reliability.md"
CHURN = _table("churn", RELIABILITY)
SOAK = _table("soak", RELIABILITY)
TABLES = (ADMISSION, CONVERSION, MANY_CRS, RECORD, SHARDED, SKIP, WAITS, LOOKED_AT, CHURN, SOAK)


@dataclass(frozen=True, slots=True)
class Origin:
    """When a figure was measured, of which commit, and on what: cores, versions, load; no names."""

    date: str
    commit: str
    machine: str

    def __str__(self) -> str:
        return f"{self.date}, commit {self.commit}, {self.machine}"


def write_json(figures: Sequence[Figure], file: Path) -> None:
    """All values with limit and verdict, and where each comes from."""
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [row_of(figure, origin_now()) for figure in figures]
    file.write_text(json.dumps({"figures": rows}, indent=1) + "\n")


def row_of(figure: Figure, origin: Origin) -> dict[str, Any]:
    """A figure as the file has it."""
    judged = {"median": figure.median, "verdict": figure.verdict}
    return asdict(figure) | judged | asdict(origin)


def read_json(file: Path) -> tuple[list[Origin], list[Figure]]:
    """Where the figures of such a file come from, and the figures."""
    rows = json.loads(file.read_text())["figures"]
    origins = [Origin(**{name: row[name] for name in _ORIGIN}) for row in rows]
    figures = [
        Figure(
            **{name: row[name] for name in _FIGURE if name in row}
            | {"values": tuple(row["values"])}
        )
        for row in rows
    ]
    return origins, figures


def write_plot(figures: Sequence[Figure], file: Path) -> None:
    """Bars and lines as SVG."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(plot(figures))


def publish(figures: Sequence[Figure]) -> None:
    """Make these the figures of the release, with their plot."""
    write_json(figures, RELEASE)
    write_plot(figures, PLOT)
    PAGE.write_text(page_with_release(PAGE.read_text()))


def page_with_release(text: str) -> str:
    """The page with the table and the plot of the release."""
    return Table(RELEASE, PAGE, "figures").shown_in(text, f"{_PICTURE}\n\n")


def origin_now() -> Origin:
    """Of what is measured now; `+` stands behind a commit that files differ from."""
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    packages = {name: version(name) for name in ("ansible-core", "ansible-runner", "kubernetes")}
    parts = {"cores": os.cpu_count(), "Python": platform.python_version(), **packages, "load": load}
    machine = ", ".join(f"{name} {value}" for name, value in parts.items())
    return Origin(datetime.now(UTC).date().isoformat(), commit_now(), machine)


def commit_now() -> str:
    """The commit of this tree; empty where there is none."""
    if (git := shutil.which("git")) is None:
        return ""
    command = [git, "-C", str(ROOT), "describe", "--always", "--abbrev=7", "--dirty=+"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    return said.stdout.strip()
