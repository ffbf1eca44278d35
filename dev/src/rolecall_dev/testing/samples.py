"""Reads the metrics of an engine as Prometheus writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_SAMPLE = re.compile(r"^(?P<name>[^#\s{]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)$", re.MULTILINE)


def sum_of(text: str, name: str, labels: Mapping[str, str]) -> float:
    """The sum over all samples of a metric that have these labels."""
    return sum(value for value, _ in _samples(text, name, labels))


def runs_in(text: str, kind: str, labels: Mapping[str, str]) -> float:
    """How many runs ended; of a kind, or of all."""
    of_kind = f'Kind={kind}"' if kind else ""  # Machine must not match MachineOperation
    rows = _samples(text, "rolecall_runs_total", labels)
    return sum(value for value, found in rows if of_kind in found)


def _samples(text: str, name: str, labels: Mapping[str, str]) -> Iterator[tuple[float, str]]:
    for sample in _SAMPLE.finditer(text):
        found = sample["labels"] or ""
        is_meant = all(f'{key}="{value}"' in found for key, value in labels.items())
        if sample["name"] == name and is_meant:
            yield float(sample["value"]), found
