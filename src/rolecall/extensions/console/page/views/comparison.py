"""Two runs side by side: values in, text out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rolecall.extensions.console.page.shown_tasks import ShownTask
from rolecall.extensions.console.page.views.rendering import Html, PageLayout, page, path_to
from rolecall.extensions.console.page.views.run import RunPage, TaskBar, axis_values, bar_of
from rolecall.extensions.console.task_times import Axis, seconds_of
from rolecall.history import KeptRun

_MOST_COMPARED = 1_000
_MOST_NAMED = 2
_LEAST_NAMED = 0.2  # of the whole difference, to be explained yet
_LEAST_S = 0.05
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class TaskPair:
    """A task of two runs; None: that run did not have it."""

    place: str
    name: str
    then: ShownTask | None
    now: ShownTask | None

    @property
    def differs(self) -> bool:
        """In how it ended."""
        then, now = self.then, self.now
        return (then.outcome if then else None) != (now.outcome if now else None)

    @property
    def slower_s(self) -> float:
        then_s, now_s = (each.seconds if each else 0.0 for each in (self.then, self.now))
        return now_s - then_s


def comparison(
    first: RunPage, second: RunPage, kept: Sequence[KeptRun], layout: PageLayout
) -> Html:
    """Tasks that differ in how they ended, or took much longer, come first; both on one axis."""
    pairs = pairs_of(first.tasks, second.tasks)
    axis = max(first.timeline.axis, second.timeline.axis, key=lambda each: each[1])
    shown = pairs[:_MOST_COMPARED]
    return page(
        "comparison",
        f"Two runs of {first.key}",
        layout,
        above=path_to(first.key),
        sides=(("Then", "then", first), ("Now", "now", second)),
        kept=kept,
        words=sentence_of(first, second, pairs),
        pairs=[
            (each, _bar(each.then, first, axis), _bar(each.now, second, axis)) for each in shown
        ],
        left_out=len(pairs) - len(shown),
        **axis_values(axis),
    )


def pairs_of(then: Sequence[ShownTask], now: Sequence[ShownTask]) -> list[TaskPair]:
    """Matched by place and name; what differs comes first."""
    first, second = dict(_placed(then)), dict(_placed(now))
    pairs = [
        TaskPair(place[0], place[1], first.get(place), second.get(place))
        for place in first | second
    ]
    return sorted(pairs, key=lambda each: (not each.differs, -abs(each.slower_s)))


def _placed(tasks: Sequence[ShownTask]) -> Iterator[tuple[tuple[str, str, int], ShownTask]]:
    """A task that is included several times is matched by which of them it is."""
    times = Counter[tuple[str, str]]()
    for task in tasks:
        place = task.path, task.name
        times[place] += 1
        yield (*place, times[place]), task


def sentence_of(first: RunPage, second: RunPage, pairs: Sequence[TaskPair]) -> str:
    """The most important of it: `2.1 s slower, of which 1.9 s in “wait for the database”.`"""
    slower_s = second.timeline.length_s - first.timeline.length_s
    word, sign = ("slower", 1) if slower_s > 0 else ("faster", -1)
    named, left_s = list[str](), abs(slower_s)
    for each in sorted(pairs, key=lambda pair: -sign * pair.slower_s)[:_MOST_NAMED]:
        share_s = sign * each.slower_s
        if share_s < _LEAST_S or left_s < _LEAST_NAMED * abs(slower_s):
            break
        left_s -= share_s
        name = each.name[:_LONGEST_NAME] or "a task without a name"
        named.append(f"{seconds_of(share_s)} in “{name}”")
    said = f"{seconds_of(abs(slower_s))} {word}"
    if abs(slower_s) < _LEAST_S:
        said = "Both took about as long"
    elif named and left_s > -_LEAST_S:
        said += f", of which {' and '.join(named)}"
    elif named:  # elsewhere it was the other way round
        less, more = ("more", "less") if slower_s > 0 else ("less", "more")
        said += f": {' and '.join(named)} {less}, {seconds_of(-left_s)} {more} in the rest"
    differ = sum(each.differs for each in pairs)
    ended = f"{differ:,} task{'' if differ == 1 else 's'} ended differently" if differ else ""
    if not pairs:
        return f"{said}; none of their tasks is recorded."
    return f"{said}; {ended or 'each task ended as before'}."


def _bar(task: ShownTask | None, shown: RunPage, axis: Axis) -> TaskBar | None:
    return bar_of(shown.timeline.of(task), axis, task.outcome) if task else None
