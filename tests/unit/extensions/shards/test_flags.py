"""What `--shards` asks for, and with which flags it goes together."""

from __future__ import annotations

import pytest

from rolecall.errors import InputError
from rolecall.extensions.shards import ShardSettings
from tests.unit.cli.test_settings_from import settled


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--shards=-1",), "--shards: `-1` is out of range"),
        (("--shards=1025",), "--shards: `1025` is out of range"),
        (("--shards=64",), "`--shards` was asked for, but the Lease has no name"),
        (("--shards=64", "--leader-election-id=x"), "`--shards` needs a namespace for its Lease"),
    ],
)
def test_shards_that_cannot_work_are_refused(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError) as caught:
        settled(*words)
    assert message in str(caught.value)


_LEASE = ("--leader-election-id=x", "--leader-election-namespace=n")


def test_without_shards_nothing_is_divided() -> None:
    settings, _ = settled("--leader-elect", *_LEASE)
    assert settings.division == ""
    assert ShardSettings.of(settings).count == 0


@pytest.mark.parametrize("count", [1, 64, 1024])
def test_shards_have_the_names_and_times_of_the_lease(count: int) -> None:
    times = ("--leader-elect-lease-duration=30s", "--leader-elect-renew-deadline=20s")
    words = (f"--shards={count}", *_LEASE, *times, "--graceful-shutdown-timeout=7s")
    settings, _ = settled(*words)
    shards = ShardSettings.of(settings)
    assert settings.division == f"shards/{count}"
    assert (shards.count, shards.patience_s) == (count, 7.0)
    assert (shards.election.id, shards.election.namespace) == ("x", "n")
    assert (shards.election.lease_s, shards.election.renew_deadline_s) == (30.0, 20.0)
    assert not settings.election.is_on


def test_shards_and_their_leases_come_from_the_environment_too() -> None:
    given = {"ROLECALL_SHARDS": "8", "ROLECALL_LEADER_ELECTION_NAMESPACE": "n"}
    shards = ShardSettings.of(settled(OPERATOR_NAME="old", **given)[0])
    assert (shards.count, shards.election.id) == (8, "old")
    assert settled("--shards=0", *_LEASE, **given)[0].division == ""


@pytest.mark.parametrize(
    ("words", "environment", "named"),
    [
        (("--leader-elect", "--shards=64"), {}, "`--leader-elect` and `--shards` were set"),
        (("--leader-elect",), {"ROLECALL_SHARDS": "64"}, "`--leader-elect` and `ROLECALL_SHARDS`"),
        (
            (),
            {"ROLECALL_SHARDS": "64", "ROLECALL_LEADER_ELECT": "true"},
            "`ROLECALL_LEADER_ELECT` and `ROLECALL_SHARDS`",
        ),
        (
            ("--enable-leader-election", "--shards=2"),
            {},
            "`--enable-leader-election` and `--shards`",
        ),
    ],
)
def test_shards_and_a_leader_are_one_too_many(
    words: tuple[str, ...], environment: dict[str, str], named: str
) -> None:
    with pytest.raises(InputError) as caught:
        settled(*words, *_LEASE, **environment)
    assert named in str(caught.value)
    assert caught.value.hint.startswith("choose one")


def test_a_leader_election_that_is_switched_off_leaves_shards() -> None:
    assert settled("--leader-elect=false", "--shards=2", *_LEASE)[0].division == "shards/2"
