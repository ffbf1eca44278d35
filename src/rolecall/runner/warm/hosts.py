"""Keeps a host for each configuration: starts it, replaces it, does without it.

A host is replaced when it died, when what it holds changed on disk, and, while it goes on serving until
its successor is warm, when it grew, got old or served many runs. A host that could not start is not
tried again for a while; one that does not know this ansible-core is never tried again.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

from rolecall.clock import Clock
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.warm.fingerprint import Fingerprint, fingerprint_of
from rolecall.runner.warm.link import HostLink

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HostLimits:
    """When a host is replaced; none of these is ever reached in healthy operation but runs and age."""

    # Two: the usual one, and one beside it while somebody edits ansible.cfg. More are not warm at all.
    hosts: int = 2
    runs: int = 20_000
    age_s: float = 24 * 3600.0
    growth_bytes: int = 64 * 1024 * 1024
    # Longer than a host needs on a busy machine; shorter than waiting hurts more than a cold start.
    start_wait_s: float = 20.0
    retry_s: float = 60.0


class Hosts:
    """Hosts by fingerprint. Called from the runs' threads."""

    def __init__(self, clock: Clock, limits: HostLimits | None = None) -> None:
        self._clock = clock
        self._limits = limits or HostLimits()
        self._lock = threading.Lock()
        self._hosts: dict[str, HostLink] = {}
        self._successors: dict[str, HostLink] = {}
        self._failed: dict[str, tuple[float, str]] = {}  # digest: when, why
        self._retired: list[HostLink] = []
        self._is_closed = False

    def host_for(self, prepared: PreparedRun) -> HostLink | str:
        """A host that serves this run, or the reason why there is none."""
        fingerprint = fingerprint_of(prepared.env, prepared.cwd)
        with self._lock:
            if self._is_closed:
                return "the engine is ending"
            try:
                found = self._find_or_start(fingerprint, prepared)
            except OSError as error:  # no memory, no descriptor, no disk
                return f"the warm host could not be started: {error.strerror or error}"
        if isinstance(found, str):
            return found
        if found.wait_ready(self._limits.start_wait_s):
            return found
        return self._give_up(found)

    def drop(self, host: HostLink) -> None:
        """Take no more runs to this host."""
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
    def pids(self) -> tuple[int, ...]:
        """Processes of the hosts that serve."""
        with self._lock:
            return tuple(host.pid for host in self._hosts.values() if host.is_alive)

    def _find_or_start(self, fingerprint: Fingerprint, prepared: PreparedRun) -> HostLink | str:
        self._retired = [host for host in self._retired if host.is_alive]
        digest = fingerprint.digest
        host = self._hosts.get(digest)
        if host is not None and (host.is_stale or not host.is_alive):
            self._remove(host)
            host = None
        if host is not None:
            return self._succeed(host, prepared)
        if (failure := self._failed.get(digest)) is not None:
            if self._clock.monotonic() - failure[0] < self._limits.retry_s:
                return failure[1]
            del self._failed[digest]
        self._make_room()
        started = HostLink(fingerprint, prepared.env, prepared.cwd, self._clock)
        self._hosts[digest] = started
        return started

    def _succeed(self, host: HostLink, prepared: PreparedRun) -> HostLink:
        """Start or swap in a successor where a host is worn; it serves until then."""
        digest = host.fingerprint.digest
        successor = self._successors.get(digest)
        if successor is not None and successor.is_ready:
            del self._successors[digest]
            self._remove(host)
            self._hosts[digest] = successor
            return successor
        if successor is None and host.is_ready and self._is_worn(host):
            self._successors[digest] = HostLink(
                host.fingerprint, prepared.env, prepared.cwd, self._clock
            )
        return host

    def _is_worn(self, host: HostLink) -> bool:
        limits = self._limits
        return (
            host.served >= limits.runs
            or self._clock.monotonic() - host.started >= limits.age_s
            or host.rss - host.rss_at_start >= limits.growth_bytes
        )

    def _make_room(self) -> None:
        while len(self._hosts) >= self._limits.hosts:
            oldest = min(self._hosts.values(), key=lambda host: host.started)
            self._remove(oldest)

    def _remove(self, host: HostLink) -> None:
        for kept in (self._hosts, self._successors):
            if kept.get(host.fingerprint.digest) is host:
                del kept[host.fingerprint.digest]
        if host.is_alive:
            host.retire()
            self._retired.append(host)

    def _give_up(self, host: HostLink) -> str:
        reason = host.problem or "the warm host took too long to start"
        with self._lock:
            self._failed[host.fingerprint.digest] = (self._clock.monotonic(), reason)
            if self._hosts.get(host.fingerprint.digest) is host:
                del self._hosts[host.fingerprint.digest]
        host.kill()
        return reason
