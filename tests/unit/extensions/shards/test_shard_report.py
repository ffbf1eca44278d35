"""How a shard without a holder is reported, and where."""

from __future__ import annotations

from typing import Any

from rolecall.clock import SystemClock
from rolecall.extensions.shards import MemberView, ShardSettings, ShardsView
from rolecall.extensions.shards.figures import ShardFigures
from rolecall.extensions.shards.report import ShardReport
from rolecall.settings import ElectionSettings

POD = {"kind": "Pod", "metadata": {"name": "own", "namespace": "here", "uid": "1"}}


class Replica:
    """One of two, with what it sees and what it said."""

    def __init__(self, pod: Any = POD) -> None:
        self.said: list[tuple[str, str]] = []
        self.view = seen([0, 2], [3], {})
        self.pod = pod
        settings = ShardSettings(4, ElectionSettings(lease_s=15.0))
        self.report = ShardReport(
            settings, lambda: self.view, SystemClock(), events=self, find_pod=self.find_pod
        )

    def record(self, cr: Any, *, kind: str, reason: str, message: str) -> None:
        assert cr is self.pod
        self.said.append((f"{kind} {reason}", message))

    async def find_pod(self) -> Any:
        return self.pod

    async def looks(self, *views: ShardsView) -> None:
        for self.view in views:
            await self.report.look()


def seen(
    mine: list[int], theirs: list[int], unheld: dict[int, float], why_not: str = ""
) -> ShardsView:
    own = MemberView("a", "1", 1, tuple(mine), is_self=True)
    return ShardsView(4, (own, MemberView("b", "2", 1, tuple(theirs))), unheld, why_not)


async def test_gap_and_its_end_are_reported_once_each_by_the_holder_of_the_lowest_shard() -> None:
    replica = Replica()
    gap, longer = seen([0, 2], [3], {1: 19.5}), seen([0, 2], [3], {1: 21.5})
    await replica.looks(gap, longer, seen([0, 1, 2], [3], {}), seen([0, 1, 2], [3], {}))
    assert [what for what, _ in replica.said] == ["Warning ShardsUnheld", "Normal ShardsHeld"]
    assert "1 of 4 shards is without a replica for up to 20 s" in replica.said[0][1]
    assert replica.said[0][1].endswith(": 1")


async def test_shard_that_changes_hands_within_the_lease_time_is_no_gap() -> None:
    replica = Replica()
    await replica.looks(seen([0, 2], [3], {1: 14.9}), seen([0, 2], [3], {1: 19.0}))
    assert replica.said == []
    assert replica.report.figures().unheld == 0


async def test_other_replicas_say_nothing_but_in_their_metrics_and_notes() -> None:
    replica = Replica()
    await replica.looks(seen([2], [0, 3], {1: 20.0}))
    assert replica.said == []
    assert replica.report.figures() == ShardFigures(4, held=1, unheld=1, members=2)
    assert replica.report.note() == (
        "has 1 of 4, 2 replicas; 1 of 4 shards is without a replica for up to 20 s, so that their"
        " CRs wait: 1"
    )


async def test_new_holder_of_the_lowest_shard_reports_an_open_gap() -> None:
    replica = Replica()
    unheld = seen([], [], dict.fromkeys(range(4), 30.0))
    await replica.looks(unheld, seen([0], [], {1: 32.0, 2: 32.0, 3: 32.0}))
    assert [what for what, _ in replica.said] == ["Warning ShardsUnheld"]


async def test_outside_of_a_pod_no_event_is_posted() -> None:
    replica = Replica(pod=None)
    await replica.looks(seen([0, 2], [3], {1: 20.0}), seen([0, 1, 2], [3], {}))
    assert replica.said == []


def test_problem_of_the_mode_lease_is_what_the_note_says() -> None:
    replica = Replica()
    replica.view = seen([], [], dict.fromkeys(range(4), 60.0), "replica `old` works without shards")
    assert replica.report.note() == "takes none: replica `old` works without shards"
    assert replica.report.figures().unheld == 0, "others work, in another way"
