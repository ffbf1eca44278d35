"""Ports that nobody uses and nobody is about to be given.

Below the kernel's range for outgoing connections: a port from inside that range could be taken by
any connection of the machine while its program is being restarted. Between the check here and the
program's own `bind` another cluster may still be faster; who starts programs tries again then.
"""

from __future__ import annotations

import random
import socket

from rolecall.errors import InputError

_FIRST, _LAST = 20000, 32000  # Linux hands out 32768 and above to outgoing connections
_TRIES = 200


def free_ports(count: int) -> list[int]:
    """Different ports of the loopback address that were free a moment ago."""
    found: list[int] = []
    for port in random.sample(range(_FIRST, _LAST), _TRIES):
        if len(found) == count:
            break
        if is_free(port):
            found.append(port)
    if len(found) < count:
        raise InputError(
            f"no free port was found between {_FIRST} and {_LAST} in {_TRIES} tries",
            hint="`ss -ltn` shows who listens; `rolecall cluster list` shows clusters to take down",
        )
    return found


def is_free(port: int) -> bool:
    """Whether a program could listen there now."""
    with socket.socket() as probe:
        # As the programs do: a port in TIME_WAIT is free for them.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
