"""The proxy's own answers, in the shape of the API server's: a `Status` that every client can read.

Promise: they say what failed and why, never what was sent; a cause named `Proxy`
distinguishes them from the API server's own.
"""

from __future__ import annotations

import json

from aiohttp import web

_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    405: "MethodNotAllowed",
    408: "Timeout",
    413: "RequestEntityTooLarge",
    422: "Invalid",
    415: "UnsupportedMediaType",
    500: "InternalError",
    502: "ServiceUnavailable",
    503: "ServiceUnavailable",
    504: "Timeout",
}


def refusal(code: int, message: str, *, headers: dict[str, str] | None = None) -> web.Response:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": _REASONS[code],
        "details": {"causes": [{"reason": "Proxy", "message": message}]},
        "code": code,
    }
    return web.Response(
        status=code,
        body=json.dumps(status).encode(),
        headers={"Content-Type": "application/json", **(headers or {})},
    )


def last_refusal(code: int, message: str) -> web.Response:
    """The same, and the connection ends: who knows what the bytes behind such a request are."""
    answer = refusal(code, message)
    answer.force_close()
    return answer


def unauthorized() -> web.Response:
    """The answer to a request without a live credential."""
    return refusal(
        401,
        "the request did not have the credential of a current run; use the kubeconfig that the run"
        " was given (K8S_AUTH_KUBECONFIG), while that run lasts",
        headers={"WWW-Authenticate": 'Basic realm="rolecall"'},
    )
