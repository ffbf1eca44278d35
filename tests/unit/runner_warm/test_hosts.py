"""Which host serves a run where there are several configurations, worn hosts, and hosts that fail."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rolecall.runner.warm import HostLimits, Hosts
from rolecall.runner.warm import hosts as module
from rolecall.runner.warm.fingerprint import Fingerprint
from tests.unit.runner_warm.fakes import FakeHost, SteppedClock

GIB = 1 << 30


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[FakeHost]:
    """Hosts in the order of their start; each is ready at once unless a test says otherwise."""
    hosts: list[FakeHost] = []

    def start(fingerprint: Fingerprint, *more: Any, **named: Any) -> FakeHost:
        hosts.append(FakeHost(fingerprint, *more, **named))
        return hosts[-1]

    monkeypatch.setattr(module, "HostLink", start)
    return hosts


def run_of(configuration: str) -> Any:
    """A run, as far as its host is concerned."""
    return SimpleNamespace(env={"SETTING": configuration, "HOME": "/none"}, cwd=Path("/none"))


def asked(hosts: Hosts, run: Any) -> Any:
    """What a run gets: a host, or the reason why not."""
    return hosts.host_for(run)


def test_configurations_in_turn_do_not_start_a_host_each_time(
    clock: SteppedClock, started: list[FakeHost]
) -> None:
    hosts = Hosts(clock, HostLimits(hosts=2))
    for _ in range(10):
        for configuration in "abc":
            hosts.host_for(run_of(configuration))
            clock.step(1.0)
    assert len(started) == 2
    assert asked(hosts, run_of("c")) == asked(hosts, run_of("d"))
    assert "other settings" in str(asked(hosts, run_of("c")))


def test_configuration_gets_the_place_of_one_that_is_no_longer_used(
    clock: SteppedClock, started: list[FakeHost]
) -> None:
    hosts = Hosts(clock, HostLimits(hosts=2, stay_s=600.0))
    for configuration in "ab":
        hosts.host_for(run_of(configuration))
    clock.step(601.0)
    asked(hosts, run_of("a"))
    assert asked(hosts, run_of("c")) is started[2]
    assert asked(hosts, run_of("a")) is started[0]
    assert not started[1].is_alive


def test_edited_configuration_file_makes_room_at_once(
    clock: SteppedClock, started: list[FakeHost], tmp_path: Path
) -> None:
    config = tmp_path / "ansible.cfg"
    hosts = Hosts(clock, HostLimits(hosts=1))
    run = SimpleNamespace(env={"ANSIBLE_CONFIG": str(config)}, cwd=tmp_path)
    for text in ("[defaults]\n", "[defaults]\nforks = 2\n", "[defaults]\nforks = 10\n"):
        config.write_text(text)
        assert asked(hosts, run) is started[-1]
    assert len(started) == 3


def test_worn_host_whose_successor_fails_is_reported_and_succeeded_later(
    clock: SteppedClock, started: list[FakeHost], caplog: pytest.LogCaptureFixture
) -> None:
    hosts = Hosts(clock, HostLimits(runs=1, retry_s=60.0))
    first = asked(hosts, run_of("a"))
    started[0].served = 1
    asked(hosts, run_of("a"))
    started[1].fail("no memory")
    with caplog.at_level(logging.INFO):
        for _ in range(5):
            assert asked(hosts, run_of("a")) is first
    assert len(started) == 2
    reported = [record for record in caplog.records if "no memory" in str(vars(record))]
    assert len(reported) == 1
    clock.step(61.0)
    asked(hosts, run_of("a"))
    assert asked(hosts, run_of("a")) is started[2]


def test_worn_host_serves_no_longer_than_twice_its_limit(
    clock: SteppedClock, started: list[FakeHost]
) -> None:
    hosts = Hosts(clock, HostLimits(runs=10, retry_s=60.0))
    asked(hosts, run_of("a"))
    started[0].served = 10
    asked(hosts, run_of("a"))
    started[1].fail("no memory")
    started[0].served = 19
    assert asked(hosts, run_of("a")) is started[0]
    started[0].served = 20
    assert "no memory" in str(asked(hosts, run_of("a")))
    assert not started[0].is_alive


def test_successor_that_hangs_is_ended_and_tried_again(
    clock: SteppedClock, started: list[FakeHost]
) -> None:
    hosts = Hosts(clock, HostLimits(runs=1, retry_s=60.0, start_wait_s=20.0))
    asked(hosts, run_of("a"))
    started[0].served = 1
    asked(hosts, run_of("a"))
    started[1].is_ready = False
    clock.step(21.0)
    assert asked(hosts, run_of("a")) is started[0]
    assert not started[1].is_alive
    clock.step(61.0)
    asked(hosts, run_of("a"))
    assert asked(hosts, run_of("a")) is started[2]


def test_cause_that_can_pass_is_tried_again(clock: SteppedClock, started: list[FakeHost]) -> None:
    hosts = Hosts(clock, HostLimits(retry_s=60.0))
    FakeHost.next_fails = "no memory"
    assert "no memory" in str(asked(hosts, run_of("a")))
    assert "no memory" in str(asked(hosts, run_of("a")))
    clock.step(61.0)
    assert asked(hosts, run_of("a")) is started[1]


def test_cause_that_lies_in_the_files_is_not_tried_again_until_they_change(
    clock: SteppedClock, started: list[FakeHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = "as they were"
    monkeypatch.setattr(module, "stamp_of_installed", lambda _environment: looks)
    hosts = Hosts(clock, HostLimits(retry_s=60.0))
    FakeHost.next_fails, FakeHost.next_is_lasting = "cannot import name", True
    for _ in range(10):
        assert "cannot import name" in str(asked(hosts, run_of("a")))
        clock.step(61.0)
    assert len(started) == 1
    looks = "other"
    assert asked(hosts, run_of("a")) is started[1]


def test_host_killed_while_it_starts_is_started_again_at_once(
    clock: SteppedClock, started: list[FakeHost]
) -> None:
    hosts = Hosts(clock)
    FakeHost.next_fails, FakeHost.next_has_died = "the warm host ended", True
    assert asked(hosts, run_of("a")) is started[1]
    assert asked(hosts, run_of("a")) is started[1]


def test_host_killed_at_each_start_is_started_no_more_than_twice(
    clock: SteppedClock, started: list[FakeHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = Hosts(clock, HostLimits(retry_s=60.0))
    monkeypatch.setattr(FakeHost, "all_die", True)
    for _ in range(3):
        assert "killed" in str(asked(hosts, run_of("a")))
    assert len(started) == 2


def test_dead_host_makes_room_at_once(clock: SteppedClock, started: list[FakeHost]) -> None:
    hosts = Hosts(clock, HostLimits(hosts=2))
    for configuration in "ab":
        hosts.host_for(run_of(configuration))
    started[0].fail("the warm host ended")
    assert asked(hosts, run_of("c")) is started[2]
    assert asked(hosts, run_of("b")) is started[1]
