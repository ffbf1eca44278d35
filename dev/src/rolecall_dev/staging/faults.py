"""Ways in which one request may fail, as API servers and networks really fail."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rolecall.json_object import Json
from rolecall.proxy import RequestInfo
from rolecall_dev.staging.seen_request import RequestMark


class FaultKind(StrEnum):
    """The value stands in replay files."""

    CONFLICT = "409"
    THROTTLED = "429"
    BROKEN = "500"
    DONE_BUT_TIMED_OUT = "timeout"  # the write is done, and whoever asked does not get to know
    REFUSED = "refused"  # the connection is closed, and nothing was done


# code, reason and message, in the API server's own words
_ANSWERS = {
    FaultKind.CONFLICT: (
        409,
        "Conflict",
        "Operation cannot be fulfilled: the object has been modified; please apply your changes to"
        " the latest version and try again",
    ),
    FaultKind.THROTTLED: (429, "TooManyRequests", "Too many requests, please try again later."),
    FaultKind.BROKEN: (500, "InternalError", "Internal error occurred: etcdserver: leader changed"),
    FaultKind.DONE_BUT_TIMED_OUT: (
        504,
        "Timeout",
        "Timeout: request did not complete within the allotted timeout",
    ),
}
_USER = "system:serviceaccount:test:operator"


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens once, to one request."""

    mark: RequestMark
    kind: FaultKind

    @property
    def reaches_server(self) -> bool:
        return self.kind is FaultKind.DONE_BUT_TIMED_OUT

    def __str__(self) -> str:
        return f"{self.kind} to {self.mark}"


def answer_of(kind: FaultKind) -> tuple[int, Json]:
    """The code and the Status with which an API server says so."""
    return _status(*_ANSWERS[kind])


def refusal_of(info: RequestInfo) -> tuple[int, Json]:
    """The answer to a request whose right was taken away, as RBAC words it."""
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    full = f"{info.resource}.{info.group}" if info.group else info.resource
    named = f' "{info.name}"' if info.name else ""
    where = f'in the namespace "{info.namespace}"' if info.namespace else "at the cluster scope"
    return _status(
        403,
        "Forbidden",
        f"{full}{named} is forbidden:"
        f' User "{_USER}" cannot {info.verb} resource "{resource}" in API group'
        f' "{info.group}" {where}',
    )


def _status(code: int, reason: str, message: str) -> tuple[int, Json]:
    return code, {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
