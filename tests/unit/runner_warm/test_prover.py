"""When the engine proves, what it remembers, and what it reports."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from rolecall.runner import WarmState, WarmSupport
from rolecall.runner.warm.link import Unknown
from rolecall.runner.warm.proof import prover as module
from rolecall.runner.warm.proof.prover import Prover
from rolecall.runner.warm.proof.verdict import ProofVerdict
from rolecall.settings import RunnerSettings
from tests.fixtures.eventually import eventually
from tests.unit.runner_warm.fakes import SteppedClock

ASKED: Any = SimpleNamespace(env={})


class Proofs:
    """Stands for the processes of proofs: each ends when the test says what came of it."""

    def __init__(self) -> None:
        self.marks: list[str] = []
        self.verdict = ProofVerdict()
        self.may_end = threading.Event()
        self.at_once = self.most_at_once = 0

    def __call__(self, *_: Any) -> Proofs:
        return self

    def hold(self, mark: str, _settings: Any) -> ProofVerdict:
        self.marks.append(mark)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.may_end.wait(60)
        self.at_once -= 1
        return self.verdict

    def end(self, why: str) -> None:
        self.verdict = ProofVerdict(why, is_unfinished=True)
        self.may_end.set()


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> Proofs:
    proofs = Proofs()
    monkeypatch.setattr(module, "ProofProcess", proofs)
    return proofs


def host(
    mark: str = "m", *, may_be_proven: bool = True, is_proven: bool = False, started: float = 1000.0
) -> Any:
    unknown = Unknown("2.99.0", ("`a:b` is unknown (1)",), mark, may_be_proven)
    problem = "`a:b` is gone"
    return SimpleNamespace(unknown=unknown, problem=problem, is_proven=is_proven, started=started)


def prover_of(reported: list[WarmSupport], clock: SteppedClock | None = None) -> Prover:
    return Prover(RunnerSettings(), clock or SteppedClock(), lambda: 0, reported.append)


def states(reported: list[WarmSupport]) -> list[str]:
    return [support.state.value for support in reported]


def test_equal_is_trusted_and_proven_once(proofs: Proofs) -> None:
    reported: list[WarmSupport] = []
    prover = prover_of(reported)
    assert [prover.meet(host(), ASKED) for _ in range(3)] == ["m"] * 3
    assert "is being tested" in prover.reason("m") and not prover.marks
    proofs.may_end.set()
    eventually(lambda: prover.marks == {"m"})
    assert not prover.reason("m") and proofs.marks == ["m"]
    eventually(lambda: states(reported) == ["proving", "proven"])
    prover.close()


def test_different_is_refused_for_good(proofs: Proofs) -> None:
    reported: list[WarmSupport] = []
    clock = SteppedClock()
    prover = prover_of(reported, clock)
    proofs.verdict = ProofVerdict("case `x` differed")
    proofs.may_end.set()
    prover.meet(host(), ASKED)
    eventually(lambda: states(reported) == ["proving", "refused"])
    assert "case `x` differed" in reported[-1].reason
    clock.step(1e6)
    assert "case `x` differed" in prover.reason("m") and proofs.marks == ["m"]
    prover.close()


def test_what_could_not_be_finished_is_tried_again_after_an_hour(proofs: Proofs) -> None:
    reported: list[WarmSupport] = []
    clock = SteppedClock()
    prover = prover_of(reported, clock)
    proofs.verdict = ProofVerdict("no memory", is_unfinished=True)
    proofs.may_end.set()
    prover.meet(host(), ASKED)
    eventually(lambda: states(reported) == ["proving", "refused"])
    assert "no memory" in prover.reason("m") and proofs.marks == ["m"]
    proofs.verdict = ProofVerdict()
    clock.step(3601)
    prover.reason("m")
    eventually(lambda: prover.marks == {"m"})
    prover.close()


def test_one_proof_at_a_time(proofs: Proofs) -> None:
    prover = prover_of([])
    for mark in "abc":
        prover.meet(host(mark), ASKED)
    proofs.may_end.set()
    eventually(lambda: prover.marks == {"a", "b", "c"})
    assert proofs.most_at_once == 1
    prover.close()


def test_name_that_is_gone_is_refused_without_a_proof(proofs: Proofs) -> None:
    reported: list[WarmSupport] = []
    prover = prover_of(reported)
    for _ in range(3):
        assert prover.meet(host(may_be_proven=False), ASKED) == ""
    assert reported == [WarmSupport(WarmState.REFUSED, "`a:b` is gone")] and not proofs.marks
    prover.close()


def test_closing_ends_a_proof_and_reports_nothing(proofs: Proofs) -> None:
    reported: list[WarmSupport] = []
    prover = prover_of(reported)
    prover.meet(host(), ASKED)
    eventually(lambda: proofs.marks)
    prover.close()
    assert states(reported) == ["proving"] and not prover.marks


def test_known_is_reported_once(proofs: Proofs) -> None:
    reported: list[WarmSupport] = []
    prover = prover_of(reported)
    prover.serves(host())
    prover.serves(host())
    assert states(reported) == ["known"]


def test_serving_again_after_a_failure_is_reported(proofs: Proofs) -> None:
    reported: list[WarmSupport] = []
    clock = SteppedClock()
    prover = prover_of(reported, clock)
    for _ in range(2):
        prover.serves(host(started=clock.monotonic()))
        prover.meet(host(may_be_proven=False), ASKED)
        clock.step(1)
    prover.serves(host(started=clock.monotonic()))
    assert states(reported) == ["known", "refused", "known", "refused", "known"]


def test_serving_on_after_a_failure_of_a_newer_host_is_not_reported(proofs: Proofs) -> None:
    reported: list[WarmSupport] = []
    clock = SteppedClock()
    prover = prover_of(reported, clock)
    old = host(started=clock.monotonic())
    prover.serves(old)
    clock.step(1)
    prover.meet(host(may_be_proven=False), ASKED)
    prover.serves(old)
    assert states(reported) == ["known", "refused"]


def test_known_again_after_a_proof_is_reported(proofs: Proofs) -> None:
    reported: list[WarmSupport] = []
    clock = SteppedClock()
    prover = prover_of(reported, clock)
    proofs.may_end.set()
    prover.meet(host(), ASKED)
    eventually(lambda: states(reported) == ["proving", "proven"])
    prover.serves(host(is_proven=True, started=clock.monotonic()))
    clock.step(1)
    prover.serves(host(started=clock.monotonic()))
    assert states(reported) == ["proving", "proven", "known"]
    prover.close()
