"""Why no answer came, in words for people: a client library's own hold addresses of its objects.

Promise: names host and port, and never what was sent. What could be wrong with TLS is reported by
`tls_errors`, which comes first.
"""

from __future__ import annotations

import errno
import os

from rolecall.kube.later import aiohttp

_MEANINGS = {
    errno.ECONNREFUSED: "refused the connection: nothing listens there",
    errno.ECONNRESET: "closed the connection before it answered",
    errno.EHOSTUNREACH: "cannot be reached from this machine",
    errno.ENETUNREACH: "cannot be reached from this machine",
    errno.ETIMEDOUT: "did not answer in time",
}


def why_unreachable(failure: BaseException) -> str:
    """One line, to follow `could not list pods: `."""
    match failure:
        case TimeoutError():
            return "no answer in time"
        case aiohttp.ClientConnectorDNSError():
            return f"the host name `{failure.host}` could not be resolved"
        case aiohttp.ClientConnectorError():
            return f"`{failure.host}:{failure.port}` {_what_happened(failure.os_error)}"
        case aiohttp.ServerDisconnectedError():
            return "the connection was closed before an answer came"
        case OSError() if failure.errno is not None:
            return f"the connection failed: {os.strerror(failure.errno)}"
    return str(failure) or type(failure).__name__


def _what_happened(error: OSError) -> str:
    if error.errno in _MEANINGS:
        return _MEANINGS[error.errno]
    # The library's own text lists one address after another; the number is the same for all.
    return f"could not be reached: {os.strerror(error.errno) if error.errno else error}"
