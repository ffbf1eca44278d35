"""Whether the engine's ports are free, and who has them where they are not."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rolecall.extending import BindAddress, extension_classes
from rolecall.history import roots_of
from rolecall.listening import parse_address
from rolecall.local_engine import engines_of
from rolecall.settings import Settings
from rolecall.watches import Watch
from rolecall_dev.doctor.surroundings import Diagnosis, Surroundings, done, to_do

_LOOPBACK = "127.0.0.1"
_LISTENS = "0A"  # as /proc/net/tcp has it


@dataclass(frozen=True, slots=True)
class _Holder:
    """The process that listens on a port."""

    pid: int
    command: str

    def __str__(self) -> str:
        return f"process {self.pid}: {self.command[:80]}"


async def look_at_ports(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line where all are free, else one for each that is not."""
    return await asyncio.to_thread(_look, surroundings.settings, surroundings.watches)


def _look(settings: Settings, watches: Sequence[Watch]) -> list[Diagnosis]:
    wanted = list(_wanted(settings, watches))
    own = _own_engines(settings)
    faults, held = [], {}
    for what, host, port, flag in wanted:
        error = _error_of(host, port)
        if error is None:
            continue
        holder = _holder(port) if error.errno == errno.EADDRINUSE else None
        if holder is not None and holder.pid in own:
            held[f"{port} ({what})"] = holder.pid
        else:
            faults.append(_told(f"{port} ({what})", flag, error, holder))
    if faults:
        return faults
    names = [f"{port} ({what})" for what, _, port, _ in wanted]
    free = [name for name in names if name not in held]
    return [done("; ".join(filter(None, (_held(held), _free(free)))) or "none is wanted by number")]


def _own_engines(settings: Settings) -> set[int]:
    """The operators of this folder that answer: what they hold is as it should be.

    Those of other projects may share the folder of runs, and would be in the way.
    """
    found = engines_of(roots_of(settings.runner.root))
    pids = {int(state["engine"]["pid"]) for _, state in found}
    return {pid for pid in pids if _was_started_here(pid)}


def _was_started_here(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cwd").samefile(Path.cwd())
    return False


def _held(held: Mapping[str, int]) -> str:
    if not held:
        return ""
    pids = ", ".join(str(pid) for pid in sorted(set(held.values())))
    return f"{', '.join(held)}: held by the operator that runs here (process {pids})"


def _free(names: Sequence[str]) -> str:
    return f"{', '.join(names)} are free" if names else ""


def _wanted(settings: Settings, watches: Sequence[Watch]) -> Iterator[tuple[str, str, int, str]]:
    """What listens where, and the flag that chooses it; a port of 0 is always free."""
    metrics = settings.metrics
    rows = [
        ("proxy", _LOOPBACK, settings.proxy.port, "--proxy-port"),
        ("metrics of roles", _LOOPBACK, metrics.role_metrics_port, "--role-metrics-port"),
    ]
    for bind in (
        BindAddress("metrics", metrics.bind, "metrics-bind-address"),
        BindAddress("probes", metrics.probe_bind, "health-probe-bind-address"),
        *(bind for each in extension_classes() for bind in each.addresses(settings, watches)),
    ):
        if (address := parse_address(bind.address, bind.flag)) is not None:
            rows.append((bind.what, address.host or "", address.port, f"--{bind.flag}"))
    return (row for row in rows if row[2])


def _error_of(host: str, port: int) -> OSError | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            return error
    return None


def _told(name: str, flag: str, error: OSError, holder: _Holder | None) -> Diagnosis:
    if error.errno != errno.EADDRINUSE:
        return to_do(f"{name} cannot be opened: {error.strerror}", f"see {flag}")
    return to_do(
        f"{name} is taken by {holder or 'a process that this user may not see'}",
        f"stop that program, or choose another port with `{flag}`; 0 means any free one"
        if flag.endswith("port")
        else f"end that, or choose another port with `{flag}`",
    )


def _holder(port: int) -> _Holder | None:
    """Who listens there, as far as this user may know."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(str(link.readlink()) in sockets for link in (process / "fd").iterdir()):
                words = (process / "cmdline").read_bytes().replace(b"\0", b" ")
                return _Holder(int(process.name), words.decode(errors="replace").strip())
    return None


def _inodes(port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = row.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]
