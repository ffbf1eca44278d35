"""Where the time of a task went: waits, requests to the API server, and the rest, its module's; and how
that is drawn on an axis. The page of a run, comparisons and `rolecall runs --html` share it.

Moments are seconds after the run began. Time that overlaps counts once: of parallel requests, and of a
request within a wait, which counts as a request. Numbers may come from a play, and be anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from rolecall.record import RecordedRequest

Span = tuple[float, float]
Axis = tuple[float, float]

PARTS = 1000.0  # of an axis
_THINNEST = 1.5  # a bar of less would not be seen
_LONGEST_S = 1e9
_COLUMNS = 200
_LOWEST = 0.5  # of a column's hundred parts; less would not be seen
_STEPS_S = (*(10.0**power * part for power in range(-4, 1) for part in (1, 2, 5)), 10, 20, 30, 60)
_LONG_STEPS_S = (120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400)
_MOST_TICKS = 5


@dataclass(frozen=True, slots=True)
class TaskTimes:
    """One task's, or of what was asked outside of tasks."""

    began_s: float
    ended_s: float
    reads: Sequence[Span] = ()
    writes: Sequence[Span] = ()
    waits: Sequence[Span] = ()  # without the requests in them
    requests: int = 0
    write_requests: int = 0

    @property
    def seconds(self) -> float:
        return self.ended_s - self.began_s

    @property
    def api_s(self) -> float:
        return _length(_united([*self.reads, *self.writes]))

    @property
    def wait_s(self) -> float:
        return _length(self.waits)

    @property
    def module_s(self) -> float:
        return max(0.0, self.seconds - self.api_s - self.wait_s)

    @property
    def busy(self) -> list[Span]:
        """When it did not wait."""
        return _without([(self.began_s, self.ended_s)], self.waits)

    def alone(self, kind: str) -> Sequence[Span]:
        """When it did this and nothing that counts more: writes, then reads, then waits."""
        writes = _united(self.writes)
        match kind:
            case "write":
                return writes
            case "read":
                return _without(_united(self.reads), writes)
            case "waits":
                return self.waits
        return _without(self.busy, _united([*self.reads, *writes]))

    @property
    def words(self) -> str:
        """For people who do not see the bar."""
        return f"from {seconds_of(self.began_s)}, for {seconds_of(self.seconds)}: {self.parts}"

    @property
    def parts(self) -> str:
        parts = [f"{seconds_of(self.wait_s)} waiting"] if self.wait_s else []
        if self.requests:
            parts.append(f"{seconds_of(self.api_s)} in {requests_of(self)}")
        return ", ".join([*parts, f"{seconds_of(self.module_s)} in its module"])


def times_of(
    between: Span,
    requests: Iterable[RecordedRequest] = (),
    origin_s: float = 0.0,
    waits: Iterable[Span] = (),
) -> TaskTimes:
    """`origin_s`: when the run began, on the clock of its requests. A watch waits for its answer."""
    began_s, ended_s = between
    reads, writes, watches = list[Span](), list[Span](), list[Span]()
    count = write_count = 0
    for each in requests:
        at_s = finite(each.at_s) - origin_s
        span = clipped((at_s, at_s + max(0.0, finite(each.seconds))), between)
        count += 1
        write_count += each.is_write
        (writes if each.is_write else watches if each.verb == "watch" else reads).append(span)
    waited = _united(clipped(each, between) for each in (*waits, *watches))
    return TaskTimes(
        began_s,
        ended_s,
        tuple(reads),  # at tuples of numbers the garbage collector does not look
        tuple(writes),
        tuple(_without(waited, _united([*reads, *writes]))),
        count,
        write_count,
    )


def finite(value: object) -> float:
    """A number that can be reckoned with; 0 for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not -_LONGEST_S < value < _LONGEST_S:  # type: ignore[operator]
        return 0.0
    return float(value)  # type: ignore[arg-type]


def clipped(span: Span, between: Span) -> Span:
    first, last = between
    began = min(max(span[0], first), last)
    return began, min(max(span[1], began), last)


def seconds_of(seconds: float) -> str:
    """`0.35 s`, `12.3 s`, `4 min 10 s`."""
    if seconds < 9.995:
        digits = 3 if 0 < seconds < 0.0995 else 2
        return f"{seconds:.{digits}f} s"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min {rest} s"


def requests_of(times: TaskTimes) -> str:
    """`4 requests to the API server (1 write)`."""
    plural = "" if times.requests == 1 else "s"
    writes = f"{times.write_requests:,} write{'' if times.write_requests == 1 else 's'}"
    written = f" ({writes})" if times.write_requests else ""
    return f"{times.requests:,} request{plural} to the API server{written}"


def outline(spans: Iterable[Span], axis: Axis, top: float, height: float) -> str:
    """Spans on a drawing of a thousand parts, as one path: what touches there is one bar."""
    drawn: list[Span] = []
    for span in sorted(spans):
        left, right = on_axis(span, axis)
        if drawn and left <= drawn[-1][1] + 0.5:
            drawn[-1] = drawn[-1][0], max(drawn[-1][1], right)
        else:
            drawn.append((left, right))
    return "".join(
        f"M{left:.1f} {top:g}h{right - left:.1f}v{height:g}h-{right - left:.1f}z"
        for left, right in drawn
    )


def stacked(tasks: Sequence[TaskTimes], outside: TaskTimes, axis: Axis) -> list[tuple[str, str]]:
    """All tasks on one drawing of some columns, each of which is filled as its time was.

    `outside`: the requests that came while no task ran.
    """
    heights = [0.0] * _COLUMNS
    drawn = []
    for kind in ("module", "waits", "read", "write"):
        shares = [0.0] * _COLUMNS
        for each in tasks if kind in ("module", "waits") else [*tasks, outside]:
            for span in each.alone(kind):
                _share_out(span, axis, shares)
        path = []
        for column, share in enumerate(shares):
            height = min(share * 100.0, 100.0 - heights[column])
            if height >= _LOWEST:
                heights[column] += height
                x, y, width = column * PARTS / _COLUMNS, 100.0 - heights[column], PARTS / _COLUMNS
                path.append(f"M{x:g} {y:.1f}h{width:g}v{height:.1f}h-{width:g}z")
        drawn.append((kind, "".join(path)))
    return drawn


def _share_out(span: Span, axis: Axis, shares: list[float]) -> None:
    """Add to each column how much of it a span fills."""
    scale = _COLUMNS / max(axis[1] - axis[0], 1e-9)
    left, right = (min(max((at - axis[0]) * scale, 0.0), _COLUMNS) for at in span)
    for column in range(int(left), min(math.ceil(right), _COLUMNS)):
        shares[column] += min(right, column + 1) - max(left, column)


def on_axis(span: Span, axis: Axis) -> Span:
    """Where it begins and ends on a drawing of a thousand parts; never too thin to be seen."""
    scale = PARTS / max(axis[1] - axis[0], 1e-9)
    left = min(max(0.0, (span[0] - axis[0]) * scale), PARTS - _THINNEST)
    right = min(max((span[1] - axis[0]) * scale, left + _THINNEST), PARTS)
    return left, right


def ticks(axis: Axis) -> list[tuple[float, str]]:
    """Round moments on an axis that begins at 0, with their places on a thousand parts."""
    length = axis[1] - axis[0]
    steps = (*_STEPS_S, *_LONG_STEPS_S)
    step = next((each for each in steps if length / each <= _MOST_TICKS), length)
    if length <= 0 or step <= 0:
        return [(0.0, "0 s")]
    count = math.floor(length / step + 1e-9) + 1
    return [(step * n / length * PARTS, _tick(step * n)) for n in range(count)]


def _tick(seconds: float) -> str:
    if seconds >= 60:
        minutes = seconds / 60
        return f"{minutes / 60:g} h" if minutes >= 120 else f"{minutes:g} min"
    return f"{seconds:.4g} s"


def _united(spans: Iterable[Span]) -> list[Span]:
    found: list[Span] = []
    for began, ended in sorted(spans):
        if found and began <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], ended)
        else:
            found.append((began, ended))
    return found


def _without(spans: Sequence[Span], holes: Sequence[Span]) -> list[Span]:
    """Both in order, and each without overlaps."""
    left: list[Span] = []
    number = 0
    for began, ended in spans:
        at = began
        while number < len(holes) and holes[number][1] <= at:
            number += 1
        for first, last in islice(holes, number, None):
            if first >= ended:
                break
            if first > at:
                left.append((at, first))
            at = max(at, last)
        if at < ended:
            left.append((at, ended))
    return left


def _length(spans: Iterable[Span]) -> float:
    return sum(ended - began for began, ended in spans)
