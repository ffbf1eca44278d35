"""What a credential that reads only may ask for: a play of admission must have no side effect.

Reads pass, and writes of which nothing is kept (`dryRun=All`), and reviews, which are reads by POST.
What opens a stream into a pod does something there, whatever its method, and so does a request that
the API server passes on (`proxy`); neither knows of dry runs. A token, once issued, is valid, also of a
dry run. A delete that has a body is a dry run only where the body says so: the API server does not look
at the query then. So one with a body is refused, whatever its query says.
"""

from __future__ import annotations

from rolecall.proxy.exchange import Exchange
from rolecall.proxy.request_info import RequestInfo

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_REACHING_OUT = frozenset({"attach", "exec", "portforward", "proxy"})
# Creates that only ask.
_REVIEWS = {
    "authorization.k8s.io": frozenset(
        {
            "localsubjectaccessreviews",
            "selfsubjectaccessreviews",
            "selfsubjectrulesreviews",
            "subjectaccessreviews",
        }
    ),
    "authentication.k8s.io": frozenset({"selfsubjectreviews", "tokenreviews"}),
}


def why_refused(exchange: Exchange) -> str:
    """Why a play of admission may not ask for it; empty where it may."""
    info = exchange.info
    if exchange.is_upgrade or info.verb == "proxy" or info.subresource in _REACHING_OUT:
        return _refusal("reaches into a pod or beyond the API server")
    if exchange.method in _READING:
        return ""
    if exchange.method == "POST" and is_review(info):
        return ""
    if info.is_resource and info.subresource != "token" and _is_dry_run(exchange):
        return ""
    what = f"{info.resource}/{info.subresource}".strip("/") or info.path
    return _refusal(f"would {info.verb} {what}")


def is_review(info: RequestInfo) -> bool:
    """Whether a create of this kind only asks."""
    return info.resource in _REVIEWS.get(info.group, ())


def _is_dry_run(exchange: Exchange) -> bool:
    if exchange.method == "DELETE" and exchange.request.body_exists:
        return False
    said = exchange.request.rel_url.query.getall("dryRun", [])
    return bool(said) and all(value == "All" for value in said)


def _refusal(what: str) -> str:
    return (
        f"a play of admission has no side effects, and this request {what}; read instead, or ask with"
        " dryRun=All, and write in the role that reconciles"
    )
