"""Whether the engine's ports are free, and who has them where they are not."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from rolecall.metrics import parse_address
from rolecall.settings import Settings
from rolecall_dev.doctor.diagnosis import Diagnosis, done, to_do
from rolecall_dev.doctor.surroundings import Surroundings

_LOOPBACK = "127.0.0.1"
_LISTENS = "0A"  # as /proc/net/tcp has it


async def look_at_ports(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line where all are free, else one for each that is not."""
    return await asyncio.to_thread(_look, surroundings.settings)


def _look(settings: Settings) -> list[Diagnosis]:
    wanted = list(_wanted(settings))
    taken = [seen for what, host, port, flag in wanted if (seen := _taken(what, host, port, flag))]
    names = ", ".join(f"{port} ({what})" for what, _, port, _ in wanted)
    return taken or [done(f"{names} are free" if names else "none is wanted by number")]


def _wanted(settings: Settings) -> Iterator[tuple[str, str, int, str]]:
    """What listens where, and the flag that chooses it; a port of 0 is always free."""
    metrics = settings.metrics
    rows = [
        ("proxy", _LOOPBACK, settings.proxy.port, "--proxy-port"),
        ("metrics of roles", _LOOPBACK, metrics.role_metrics_port, "--role-metrics-port"),
    ]
    for what, text, flag in (
        ("metrics", metrics.bind, "--metrics-bind-address"),
        ("probes", metrics.probe_bind, "--health-probe-bind-address"),
    ):
        if (address := parse_address(text, flag)) is not None:
            rows.append((what, address.host or "", address.port, flag))
    return (row for row in rows if row[2])


def _taken(what: str, host: str, port: int, flag: str) -> Diagnosis | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                return to_do(f"{port} ({what}) cannot be opened: {error.strerror}", f"see {flag}")
            return to_do(
                f"{port} ({what}) is taken by {_holder(port)}",
                f"stop that program, or choose another port with `{flag}`; 0 means any free one"
                if flag.endswith("port")
                else f"end that, or choose another port with `{flag}`",
            )
    return None


def _holder(port: int) -> str:
    """Who listens there, as far as this user may know."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(str(link.readlink()) in sockets for link in (process / "fd").iterdir()):
                words = (process / "cmdline").read_bytes().replace(b"\0", b" ")
                command = words.decode(errors="replace").strip()
                return f"process {process.name}: {command[:80]}"
    return "a process that this user may not see"


def _inodes(port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = row.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]
