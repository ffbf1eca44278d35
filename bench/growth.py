"""Whether something that was sampled all through a soak grows: a pure question about numbers.

The first fifth of the samples is warm-up: caches fill, folders of runs reach the number that is kept,
allocators find their size. Of the rest, the median of the later half is compared with that of the
earlier half. Medians, since a sample may meet a moment (a host that is being replaced, a spare that is
not there yet); halves rather than the last sample, since one moment must not decide.

What counts as growth is above the noise of a whole soak and far below a leak worth the name: between
the middles of the halves lie two fifths of the runs, so of 10,000 runs 2 MB are half a kilobyte for
each, and 3 files or descriptors less than one in a thousand runs.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bench.figures import Figure, halves

_LEAST = {"MB PSS": 2.0, "MB": 2.0}
_LEAST_COUNT = 3.0
_PART = 0.03


@dataclass(frozen=True, slots=True)
class Growth:
    """What was sampled, before and after."""

    name: str
    unit: str
    earlier: float
    later: float
    limit: float

    @property
    def is_flat(self) -> bool:
        """Whether it did not grow by more than the limit."""
        return self.later - self.earlier <= self.limit

    def __str__(self) -> str:
        word = "flat" if self.is_flat else "GROWS"
        values = f"{self.earlier:.1f} then {self.later:.1f} {self.unit}".rstrip()
        return f"{word}: {self.name}: {values}, at most {self.limit:.1f} more"


def growth_of(course: Figure) -> Growth:
    """The verdict on one course."""
    earlier, later = (statistics.median(half) for half in halves(course.values))
    limit = max(_LEAST.get(course.unit, _LEAST_COUNT), earlier * _PART)
    return Growth(course.name, course.unit, earlier, later, limit)


def with_growth_limits(figures: Sequence[Figure]) -> list[Figure]:
    """The figures, each course with the growth that it may have."""
    return [
        replace(figure, limit=round(growth_of(figure).limit, 2)) if figure.is_course else figure
        for figure in figures
    ]
