"""The engine's `Trust`: an ansible-core that was not reviewed is proven in the background, once.

While a proof is under way, runs go the stock way, as they would without it. Equal: hosts may serve.
Not equal, or nothing that could be proven: stock, with one loud message. What was found out is not
written down: see decision 0016.
"""

from __future__ import annotations

import contextlib
import logging
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass

from rolecall.clock import Clock
from rolecall.log_fields import log_fields
from rolecall.runner.contract import OnWarmSupport, WarmState, WarmSupport
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.warm.link import HostLink, Unknown
from rolecall.runner.warm.proof.verdict import ProofVerdict
from rolecall.runner.warm.proof.worker import ProofProcess
from rolecall.runner.warm.trust import Trust
from rolecall.settings import RunnerSettings

_logger = logging.getLogger(__name__)
# After what can pass, such as a machine without memory.
_TRY_AGAIN_S = 3600.0


@dataclass(slots=True)
class _Question:
    """Whether one unknown ansible-core may be run warm, and what is known of it."""

    unknown: Unknown
    verdict: ProofVerdict | None = None  # None: being proven, or about to be
    at_s: float = 0.0

    @property
    def reason(self) -> str:
        """Why runs go the stock way; empty: they need not."""
        core = f"ansible-core {self.unknown.core}"
        if self.verdict is None:
            return f"{core} is not one that rolecall was tested with, and is being tested now"
        return self.verdict.against and f"{core} did not pass the self-test: {self.verdict.against}"


class Prover(Trust):
    """Questions by mark. Called from the runs' threads; proves in a thread of its own."""

    def __init__(
        self,
        settings: RunnerSettings,
        clock: Clock,
        in_flight: Callable[[], int],
        on_support: OnWarmSupport,
    ) -> None:
        super().__init__()
        self._settings = settings
        self._clock = clock
        self._in_flight = in_flight
        self._on_support = on_support
        self._lock = threading.Lock()
        self._questions: dict[str, _Question] = {}
        self._refused: set[str] = set()  # reasons that were logged
        self._waiting: list[_Question] = []
        self._thread: threading.Thread | None = None
        self._process: ProofProcess | None = None
        self._is_closed = False
        self._reported: WarmSupport | None = None
        self._reported_s = -math.inf
        self.on_proven: Callable[[], None] = lambda: None

    @property
    def marks(self) -> frozenset[str]:
        with self._lock:
            return frozenset(
                mark
                for mark, question in self._questions.items()
                if question.verdict and not question.verdict.against
            )

    def serves(self, host: HostLink) -> None:
        """Report it where it is news: a host that started before the last news says nothing new."""
        support = WarmSupport(WarmState.PROVEN if host.is_proven else WarmState.KNOWN)
        with self._lock:
            if support == self._reported or host.started < self._reported_s:
                return
            self._refused.clear()
        self._report(support)

    def meet(self, host: HostLink, _prepared: PreparedRun) -> str:
        unknown = host.unknown
        if unknown is None or not unknown.may_be_proven:
            self._refuse(host.problem, {})
            return ""
        with self._lock:
            if unknown.mark not in self._questions:
                self._questions[unknown.mark] = _Question(unknown)
                self._prove(self._questions[unknown.mark])
        return unknown.mark

    def reason(self, mark: str) -> str:
        with self._lock:
            question = self._questions.get(mark)
            if question is None:
                return ""
            verdict, waited_s = question.verdict, self._clock.monotonic() - question.at_s
            if verdict and verdict.is_unfinished and waited_s >= _TRY_AGAIN_S:
                question.verdict = None
                self._prove(question)
            return question.reason

    def close(self) -> None:
        """End a proof that is under way, with all that it started."""
        with self._lock:
            self._is_closed = True
            self._waiting.clear()
            process, thread = self._process, self._thread
        if process is not None:
            process.end("the operator is stopping")
        if thread is not None:
            thread.join()

    def _prove(self, question: _Question) -> None:
        """One at a time; call it with the lock."""
        if self._is_closed:
            return
        self._waiting.append(question)
        if self._thread is not None:
            return
        thread = threading.Thread(target=self._work, name="warm-proof", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no thread to be had: a run must not suffer from it
            self._waiting.clear()
            question.verdict = ProofVerdict(str(error), is_unfinished=True)
            question.at_s = self._clock.monotonic()
        else:
            self._thread = thread

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                question = self._waiting.pop(0)
                process = self._process = ProofProcess(self._clock, self._in_flight)
            self._answer(question, process)

    def _answer(self, question: _Question, process: ProofProcess) -> None:
        unknown = question.unknown
        fields = {"ansible_core": unknown.core, "unknown": ", ".join(unknown.problems)}
        _logger.info(
            "testing in the background whether plays can start warm", extra=log_fields(**fields)
        )
        self._report(WarmSupport(WarmState.PROVING, question.reason))
        began = self._clock.monotonic()
        verdict = process.hold(unknown.mark, self._settings)
        if self._is_closed:
            return
        question.at_s = self._clock.monotonic()
        question.verdict = verdict
        figures = {"cases": verdict.cases, "cpu_s": verdict.cpu_s}
        figures["seconds"] = round(question.at_s - began, 1)
        if verdict.against:
            self._refuse(question.reason, figures)
            return
        fields = {"ansible_core": unknown.core, **figures}  # type: ignore[dict-item]
        _logger.info("self-test passed, so plays start warm", extra=log_fields(**fields))
        self._report(WarmSupport(WarmState.PROVEN))
        with contextlib.suppress(RuntimeError, MemoryError):  # no thread: the next run starts it
            self.on_proven()

    def _refuse(self, reason: str, figures: dict[str, float]) -> None:
        with self._lock:
            if reason in self._refused:
                return
            self._refused.add(reason)
        _logger.warning(
            "every run starts ansible-playbook anew, which is slower",
            extra=log_fields(reason=reason, **figures),
        )
        self._report(WarmSupport(WarmState.REFUSED, reason))

    def _report(self, support: WarmSupport) -> None:
        with self._lock:
            if support == self._reported:
                return
            self._reported, self._reported_s = support, self._clock.monotonic()
        self._on_support(support)
