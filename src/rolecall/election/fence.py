"""A client whose writes are refused as soon as this process may not lead any more.

The check is made for each attempt, by the clock, right before it is sent: a call that met a busy server
is repeated up to a minute and a half later, and may lead no more by then. So it holds also while the
loop was late, the API server silent, or a run still in flight: what plays write goes through here as
well, by way of the proxy. Reads pass, and so do reviews, which are reads by POST, and dry runs, by
which plays of admission ask on every replica (`rolecall.dry_run` says what is one); what opens a shell
in a pod is a write, whatever its method. Where replicas divide the CRs, `may_write` asks the right by
which the caller acts (`acting`).
Rejected: asking only before each turn, because a turn lasts as long as its play; and before each call,
because of its repetitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from rolecall.dry_run import is_dry_run
from rolecall.errors import NotLeadingError
from rolecall.kube import Client, Credentials

MayWrite = Callable[[], bool]
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
# Segments of a path by which a request goes on to a pod or a server, or gets a token: no dry run there.
_REACHING_OUT = frozenset({"attach", "exec", "portforward", "proxy", "token"})
_REVIEWS = ("/apis/authorization.k8s.io/", "/apis/authentication.k8s.io/")


class FencedClient(Client):
    """The engine's client: what reconciles, and what plays do, writes through this one."""

    def __init__(self, credentials: Credentials, may_write: MayWrite, **more: Any) -> None:
        super().__init__(credentials, fence=self._check, **more)
        self._may_write = may_write

    def _check(self, method: str, target: str, headers: Mapping[str, str], body: object) -> None:
        is_read = method in _READING or target.startswith(_REVIEWS)
        is_read = is_read or _keeps_nothing(method, target, body)
        if not (is_read and "Upgrade" not in headers) and not self._may_write():
            raise NotLeadingError(method)


def _keeps_nothing(method: str, target: str, body: object) -> bool:
    url = urlsplit(target)
    reaches_out = _REACHING_OUT & set(unquote(url.path).split("/"))
    return not reaches_out and is_dry_run(method, url.query, body)
