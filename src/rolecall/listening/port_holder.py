"""The process that holds a port, for errors and for `rolecall doctor`.

Linux alone has the tables; elsewhere, and for processes of other users, there is no answer.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from rolecall.errors import InputError
from rolecall.plain_text import plain

_LISTENS = "0A"  # as /proc/net/tcp has it
_LONGEST_COMMAND = 80
_OPERATOR = "rolecall run"


@dataclass(frozen=True, slots=True)
class PortHolder:
    """A process that listens on a port."""

    pid: int
    command: str
    folder: str = ""  # where it runs; empty where this user may not read it

    @property
    def is_operator(self) -> bool:
        """Whether its command is `rolecall run`."""
        words = self.command.split()
        pairs = pairwise(words)
        return any(f"{Path(one).name} {other}" == _OPERATOR for one, other in pairs)

    def __str__(self) -> str:
        if self.is_operator and self.folder:
            return f"the operator of {plain(self.folder)} (process {self.pid})"
        return f"process {self.pid}: {plain(self.command)[:_LONGEST_COMMAND]}"


def holder_of_port(port: int) -> PortHolder | None:
    """The process that listens there, as far as this user may read `/proc`. Blocking."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    if not sockets:
        return None
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(str(link.readlink()) in sockets for link in (process / "fd").iterdir()):
                return _holder(process)
    return None


def port_error(what: str, port: int, flag: str, failure: OSError) -> InputError:
    """Why a port could not be opened, which process holds it, and the flag that chooses another."""
    why = failure.strerror or str(failure)
    if failure.errno == errno.EADDRINUSE:
        holder = holder_of_port(port)
        why = f"busy, held by {holder or 'a process that this user cannot see'}"
    place = f"port {port} (--{flag})" if flag else f"port {port}"
    hint = "`rolecall run --help` lists the flags that choose ports"
    if flag:
        hint = f"stop that process, or choose another port with `--{flag}`"
    return InputError(f"could not serve {what} on {place}: {why}", hint=hint)


def _holder(process: Path) -> PortHolder:
    words = (process / "cmdline").read_bytes().replace(b"\0", b" ")
    folder = ""
    with suppress(OSError):
        folder = str((process / "cwd").readlink())
    return PortHolder(int(process.name), words.decode(errors="replace").strip(), folder)


def _inodes(port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = row.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]
