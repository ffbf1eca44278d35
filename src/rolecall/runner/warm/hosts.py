"""Keeps a host for each configuration: starts it, replaces it, does without it.

A host is replaced when it died, when what it holds changed on disk, and, while it goes on serving until
its successor is warm, when it grew, got old or served many runs. A host that could not start is not
tried again for a while, and where the cause lies in the files that it imports, not before they change.

There are more configurations than hosts where watches take their roles from several collections. Then
those in use keep their hosts, and the others' runs go the stock way. Rejected: to evict the one that
was started first, which with three configurations in turn and two places starts a host for each run.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

from rolecall.clock import Clock
from rolecall.log_fields import log_fields
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.warm.failures import Failure, Failures
from rolecall.runner.warm.fingerprint import Fingerprint, fingerprint_of, is_current
from rolecall.runner.warm.installed import stamp_of_installed
from rolecall.runner.warm.link import HostLink
from rolecall.runner.warm.trust import Trust
from rolecall.settings import Capacity

_logger = logging.getLogger(__name__)

_HOST_BYTES = 100 * 1024 * 1024
# Hosts may take a tenth of the memory, but two are always allowed.
_MEMORY_PARTS = 10
_FEWEST_HOSTS, _MOST_HOSTS = 2, 6
# A worn host without a successor serves until it is so many times as worn.
_FAR_TOO_WORN = 2


@dataclass(frozen=True, slots=True)
class HostLimits:
    """How many hosts there are, and when one is replaced.

    In normal operation only `runs` and `age_s` are reached.
    """

    # Two: the usual one, and one beside it while a user edits ansible.cfg.
    hosts: int = _FEWEST_HOSTS
    # A host that a run asked for within this time is not given up for another configuration.
    stay_s: float = 600.0
    runs: int = 20_000
    age_s: float = 24 * 3600.0
    growth_bytes: int = 64 * 1024 * 1024
    # Longer than a host needs on a busy machine; shorter than waiting hurts more than a cold start.
    start_wait_s: float = 20.0
    retry_s: float = 60.0

    @classmethod
    def within(cls, capacity: Capacity) -> HostLimits:
        """As many hosts as the memory is good for."""
        wanted = capacity.memory_bytes // (_MEMORY_PARTS * _HOST_BYTES)
        return cls(hosts=max(_FEWEST_HOSTS, min(_MOST_HOSTS, wanted)))


class Hosts:
    """Hosts by fingerprint. Called from the runs' threads."""

    def __init__(
        self, clock: Clock, limits: HostLimits | None = None, trust: Trust | None = None
    ) -> None:
        self._clock = clock
        self._limits = limits or HostLimits()
        self._trust = trust or Trust()
        self._lock = threading.Lock()
        self._hosts: dict[str, HostLink] = {}
        self._wanted: dict[str, float] = {}  # when a run last asked for this host
        self._successors: dict[str, HostLink] = {}
        self._failures = Failures(clock, self._limits.retry_s)
        self._failed_successors = Failures(clock, self._limits.retry_s)
        self._retired: list[HostLink] = []
        self._is_closed = False

    def host_for(self, prepared: PreparedRun) -> HostLink | str:
        """A host that serves this run, or the reason why there is none."""
        host = self._wait_for_host(prepared)
        if not isinstance(host, str) and not host.is_ready and host.has_died:
            host = self._wait_for_host(prepared)  # killed: no reason to do without for a while
        if isinstance(host, str):
            return host
        if host.is_ready:
            self._trust.serves(host)
            return host
        return self._give_up(host, prepared)

    def drop(self, host: HostLink) -> None:
        with self._lock:
            self._remove(host)

    def close(self, timeout_s: float = 5.0) -> None:
        """End all hosts and what runs in them."""
        with self._lock:
            self._is_closed = True
            hosts = [*self._hosts.values(), *self._successors.values(), *self._retired]
            self._hosts.clear()
            self._successors.clear()
        for host in hosts:
            host.close(timeout_s)

    def rest(self) -> None:
        """Let every host go when its runs are done; the next run starts one anew."""
        with self._lock:
            for host in [*self._hosts.values(), *self._successors.values()]:
                self._remove(host)

    @property
    def serves(self) -> bool:
        """Whether a host is warm. Takes no lock: the loop asks, and starting a host takes a while."""
        return any(host.is_ready and not host.is_stale for host in list(self._hosts.values()))

    @property
    def pids(self) -> tuple[int, ...]:
        with self._lock:
            return tuple(host.pid for host in self._hosts.values() if host.is_alive)

    def _wait_for_host(self, prepared: PreparedRun) -> HostLink | str:
        """A host that is ready, or will not be; or the reason why there is none."""
        fingerprint = fingerprint_of(prepared.env, prepared.cwd)
        with self._lock:
            if self._is_closed:
                return "the operator is stopping"
            try:
                found = self._find_or_start(fingerprint, prepared)
            except OSError as error:  # no memory, no descriptor, no disk, no thread
                return f"the warm host could not be started: {error.strerror or error}"
        if not isinstance(found, str):
            found.wait_ready(self._limits.start_wait_s)
        return found

    def _find_or_start(self, fingerprint: Fingerprint, prepared: PreparedRun) -> HostLink | str:
        self._retired = [host for host in self._retired if host.is_alive]
        digest = fingerprint.digest
        host = self._hosts.get(digest)
        if host is not None and (host.is_stale or not host.is_alive):
            self._remove(host)
            host = None
        if host is not None:
            self._wanted[digest] = self._clock.monotonic()
            return self._host_or_successor(host, prepared)
        if failure := self._failure_of_last_try(self._failures, digest, prepared):
            return self._trust.reason(failure.mark) or failure.reason
        if not self._make_room():
            return "all warm hosts are in use for other settings"
        started = self._start(fingerprint, prepared)
        self._hosts[digest] = started
        self._wanted[digest] = self._clock.monotonic()
        return started

    def _start(self, fingerprint: Fingerprint, prepared: PreparedRun) -> HostLink:
        trusted = self._trust.marks
        return HostLink(fingerprint, prepared.env, prepared.cwd, self._clock, trusted)

    def _failure_of_last_try(
        self, known: Failures, digest: str, prepared: PreparedRun
    ) -> Failure | None:
        return known.reason_against(
            digest, lambda: stamp_of_installed(prepared.env), self._trust.marks
        )

    def _host_or_successor(self, host: HostLink, prepared: PreparedRun) -> HostLink | str:
        """Start or swap in a successor where a host is worn; it serves until then."""
        digest = host.fingerprint.digest
        successor = self._successors.get(digest)
        if successor is not None:
            if successor.is_ready:
                del self._successors[digest]
                self._remove(host)
                self._hosts[digest] = successor
                return successor
            self._look_after(successor, prepared)
        if not host.is_ready or not self._is_worn(host):
            return host
        failure = self._failure_of_last_try(self._failed_successors, digest, prepared)
        if failure and self._is_worn(host, _FAR_TOO_WORN):
            self._remove(host)
            self._failures.note(digest, failure)
            return failure.reason
        if failure is None and digest not in self._successors:
            self._successors[digest] = self._start(host.fingerprint, prepared)
        return host

    def _look_after(self, successor: HostLink, prepared: PreparedRun) -> None:
        """Give it up where it failed to start, or hangs: no run waits for it, so none would see it."""
        waited_s = self._clock.monotonic() - successor.started
        if successor.is_alive and waited_s < self._limits.start_wait_s:
            return
        failure = self._failure_of(successor, prepared)
        _logger.info(
            "an old warm host stays in use, because a new one could not start",
            extra=log_fields(reason=failure.reason, try_again_s=self._limits.retry_s),
        )
        self._failed_successors.note(successor.fingerprint.digest, failure)
        del self._successors[successor.fingerprint.digest]
        successor.kill()

    def _is_worn(self, host: HostLink, times: int = 1) -> bool:
        limits = self._limits
        return (
            host.served >= limits.runs * times
            or self._clock.monotonic() - host.started >= limits.age_s * times
            or host.rss - host.rss_at_start >= limits.growth_bytes * times
        )

    def _make_room(self) -> bool:
        """Let hosts go that are dead, or that no run wants any more; False where all are wanted."""
        for host in list(self._hosts.values()):
            if not host.is_alive or not is_current(host.fingerprint):
                self._remove(host)
        while len(self._hosts) >= self._limits.hosts:
            digest = min(self._hosts, key=lambda each: self._wanted[each])
            if self._clock.monotonic() - self._wanted[digest] < self._limits.stay_s:
                return False
            self._remove(self._hosts[digest])
        return True

    def _remove(self, host: HostLink) -> None:
        for kept in (self._hosts, self._successors):
            if kept.get(host.fingerprint.digest) is host:
                del kept[host.fingerprint.digest]
        if host.is_alive:
            host.retire()
            self._retired.append(host)

    def _give_up(self, host: HostLink, prepared: PreparedRun) -> str:
        with self._lock:
            failure = self._failure_of(host, prepared)
            self._failures.note(host.fingerprint.digest, failure)
            if self._hosts.get(host.fingerprint.digest) is host:
                del self._hosts[host.fingerprint.digest]
        host.kill()
        return self._trust.reason(failure.mark) or failure.reason

    def _failure_of(self, host: HostLink, prepared: PreparedRun) -> Failure:
        failure = Failure(
            host.problem or "the warm host took too long to start", self._clock.monotonic()
        )
        if host.is_lasting:
            failure.is_lasting = True
            failure.stamp = stamp_of_installed(prepared.env)
            failure.mark = self._trust.meet(host, prepared)
        return failure
