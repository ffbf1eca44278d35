"""An engine asks for its election; with `--shards`, this extension gives it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rolecall.clock import SystemClock
from rolecall.election import Election, LeaseElection
from rolecall.errors import InputError
from rolecall.extending import ElectionView, EndedTurn, Extension, election_of
from rolecall.extensions.shards.extension import ShardsExtension
from rolecall.extensions.shards.figures import SHARD_METRICS
from rolecall.extensions.shards.flags import ShardFlags
from rolecall.extensions.shards.slot import ShardsElection
from rolecall.metrics import EngineMetrics
from rolecall.reconcile import Outcome
from rolecall.runner import Ending, RunResult
from rolecall.settings import ElectionSettings, Settings
from rolecall.supervisor import Supervisor
from rolecall.workqueue import Turn, Urgency
from tests.unit.extending.views import engine_view
from tests.unit.workqueue.keys import key

LEASE = ElectionSettings(id="app", namespace="ns")
DIVIDED = Settings(election=LEASE, of_extensions=(ShardFlags(8),))


def view(settings: Settings) -> ElectionView:
    clock = SystemClock()
    metrics = EngineMetrics("1", more=SHARD_METRICS)
    client = None  # nothing is sent before it runs
    return ElectionView(settings, [], clock, client, metrics, Supervisor(clock), 4)  # type: ignore[arg-type]


class Silent(Extension):
    name = "silent"


class OtherElection(Extension):
    name = "other"

    @classmethod
    def elect(cls, engine: ElectionView) -> Election | None:
        return Election()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (Settings(), Election),
        (Settings(election=replace(LEASE, is_on=True)), LeaseElection),
        (DIVIDED, ShardsElection),
    ],
    ids=["none", "leader", "shards"],
)
def test_settings_say_which_election_there_is(settings: Settings, expected: type[Election]) -> None:
    election = election_of(view(settings), [Silent, ShardsExtension])
    assert type(election) is expected
    assert (election.division is not None) is (expected is ShardsElection)


def test_two_elections_are_an_error_with_their_names() -> None:
    with pytest.raises(InputError, match="`other` and `shards` both decide"):
        election_of(view(DIVIDED), [OtherElection, ShardsExtension])


def test_extension_does_nothing_where_keys_are_not_divided(tmp_path: Path) -> None:
    assert ShardsExtension.begin(engine_view(tmp_path, SHARD_METRICS)) is None


def test_runs_that_came_to_their_end_are_counted_as_they_end(tmp_path: Path) -> None:
    election = ShardsElection(view(DIVIDED))
    engine = engine_view(tmp_path, SHARD_METRICS, settings=DIVIDED, election=election)
    extension = ShardsExtension.begin(engine)
    assert extension is not None
    run = Outcome(result=RunResult("1", Ending.FINISHED, 0))
    now = SystemClock().monotonic()
    turn = Turn(key("a"), Urgency.EDIT)
    extension.turns_ended([EndedTurn(turn, outcome, now) for outcome in (run, Outcome(), run)])
    assert election.sharing.runs_per_minute() == 2.0
