"""Reads what a request is about from its method and URL, exactly as the API server does.

Promise: the same words that RBAC uses (verb, group, resource, subresource, namespace, name), for every
URL that the API server would serve. Where the two disagreed, an object could be made without its owner,
so this follows the server's own reading, legacy `watch` and `proxy` segments included.

The hard part is `/namespaces/<name>/<something>`: `status` and `finalize` belong to the namespace
itself, everything else is a resource inside it. A regular expression per URL shape was rejected: it
hides exactly this case.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs, unquote

_VERBS = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_LEGACY_VERBS = frozenset({"watch", "proxy"})
_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})
# What a boolean query parameter must say to mean no; the API server takes all else as yes.
_FALSE = frozenset({"false", "0"})


@dataclass(frozen=True, slots=True)
class RequestPath:
    """What one request asks of the API server; without a resource only `verb` and `path` are said."""

    verb: str
    path: str  # decoded, for messages and rules about non-resource URLs
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def is_resource(self) -> bool:
        """Whether the request is about objects, rather than discovery, health or version."""
        return bool(self.resource)

    @property
    def is_whole_object(self) -> bool:
        """Whether it is about objects themselves, not one of their subresources."""
        return self.is_resource and not self.subresource


def parse_request_path(method: str, raw_path: str, raw_query: str = "") -> RequestPath:
    """Read a request's method and its still encoded path and query."""
    parts = raw_path.strip("/").split("/")
    path = raw_path
    if "%" in raw_path:
        path, parts = unquote(raw_path), [unquote(part) for part in parts]
    method_verb = _VERBS.get(method, method.lower())
    root = _below_group(parts)
    if root is None:
        return RequestPath(verb=method_verb, path=path)
    group, version, rest = root
    verb, rest = _without_legacy_verb(method_verb, rest)
    namespace, rest = _without_namespace(rest)
    if not rest or not rest[0]:
        return RequestPath(verb=method_verb, path=path)
    name = rest[1] if len(rest) > 1 else ""
    # Below the legacy `proxy` verb, what follows the name is the path that is proxied to.
    subresource = rest[2] if len(rest) > 2 and verb != "proxy" else ""
    verb, name = _for_collection(verb, name, raw_query)
    return RequestPath(verb, path, group, version, rest[0], subresource, namespace, name)


def has_dot_segment(raw_path: str) -> bool:
    """Whether a path climbs: below a gateway's base path it could reach another cluster."""
    return any(unquote(part) in {".", ".."} for part in raw_path.split("/"))


def _below_group(parts: list[str]) -> tuple[str, str, list[str]] | None:
    if parts[0] == "api" and len(parts) >= 3:
        return "", parts[1], parts[2:]
    if parts[0] == "apis" and len(parts) >= 4:
        return parts[1], parts[2], parts[3:]
    return None


def _without_legacy_verb(verb: str, rest: list[str]) -> tuple[str, list[str]]:
    if rest[0] in _LEGACY_VERBS and len(rest) > 1:
        return rest[0], rest[1:]
    return verb, rest


def _without_namespace(rest: list[str]) -> tuple[str, list[str]]:
    if rest[0] != "namespaces" or len(rest) < 2:
        return "", rest
    namespace = rest[1]
    if len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
        rest = rest[2:]
    return namespace, rest


def _for_collection(verb: str, name: str, raw_query: str) -> tuple[str, str]:
    if name or verb not in {"get", "delete", "watch"}:
        return verb, name
    if verb == "delete":
        return "deletecollection", ""
    query = parse_qs(raw_query, keep_blank_values=True)
    if verb == "get":
        is_watch = "watch" in query and query["watch"][0].lower() not in _FALSE
        verb = "watch" if is_watch else "list"
    return verb, _selected_name(query.get("fieldSelector", [""])[0])


def _selected_name(field_selector: str) -> str:
    for term in field_selector.split(","):
        field, separator, value = term.partition("=")
        if separator and field == "metadata.name":
            return value.removeprefix("=")
    return ""
