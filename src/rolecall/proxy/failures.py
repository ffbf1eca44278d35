"""The answer to a play whose request could not be passed on: code and cause, for each way to fail.

Leadership that was lost is a 503 without `Retry-After`, so clients do not repeat the request. Rejected:
409, because `kubernetes.core` takes it on a create for an object that exists already, and kubectl sends
a patch again; and 403, because people would look for a missing RBAC rule.

A right that the engine itself lacks, for a read that comes before the play's write, is a 403 that names
the rule.
"""

from __future__ import annotations

import aiohttp
from aiohttp import web

from rolecall.errors import ClusterError, NotLeadingError
from rolecall.kube import ForbiddenError, UnavailableError, why_unreachable
from rolecall.proxy.answers import refusal
from rolecall.proxy.forward import BODY_LIMIT, BodyStalledError, BodyTooLargeError

EXPECTED = (
    *(BodyStalledError, BodyTooLargeError),
    *(TimeoutError, aiohttp.ClientError, OSError, ClusterError),
)
_STALLED = "nothing more came of the request's body"


def refusal_for(failure: Exception) -> web.Response:
    """The answer to a request that ended with one of `EXPECTED`."""
    match failure:
        case BodyTooLargeError():
            code, message = 413, f"Request entity too large: limit is {BODY_LIMIT}"
        case BodyStalledError():
            code, message = 408, _STALLED
        case aiohttp.ClientError(__cause__=BodyStalledError()):
            code, message = 408, _STALLED
        case TimeoutError():
            code, message = 504, "the API server gave no answer in time"
        case NotLeadingError():
            code = 503
            message = (
                "this replica no longer leads, or may no longer write for this object: another one"
                " may, so this run can write nothing more"
            )
        case ForbiddenError():
            code, message = 403, _not_passed_on(failure)
        case UnavailableError(is_timeout=True):
            code, message = 504, _not_passed_on(failure)
        case ClusterError():
            code, message = 502, _not_passed_on(failure)
        case _:
            code = 502
            message = f"the API server could not be reached: {why_unreachable(failure)}"
    return refusal(code, message)


def _not_passed_on(failure: ClusterError) -> str:
    way_out = f"; {failure.hint}" if failure.hint else ""
    return f"the request was not sent to the API server: {failure.message}{way_out}"
