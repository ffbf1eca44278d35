"""Reads what a request is about from its method and URL, exactly as the API server does.

Promise: the same words that RBAC uses (verb, group, resource, subresource, namespace, name), for every
URL that the API server would serve. Where the two disagreed, an object could be made without its owner,
so this follows the server's own reading, legacy `watch` and `proxy` segments included.

The hard part is `/namespaces/<name>/<something>`: `status` and `finalize` belong to the namespace
itself, everything else is a resource inside it. A regular expression per URL shape was rejected: it
hides exactly this case. And the server decodes a path before it looks for slashes: `a%2Fb` is two
segments.
"""

from __future__ import annotations

import re
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
_DOT_SEGMENT = re.compile(r"(?:^|[/\\])\.{1,2}(?:[/\\;?#]|$)")
# No honest client encodes a path more often than this.
_MOST_DECODINGS = 5
# What a boolean query parameter must say to mean no; the API server takes all else as yes.
_FALSE = frozenset({"false", "0"})


@dataclass(frozen=True, slots=True)
class RequestInfo:
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
    def is_about_objects(self) -> bool:
        """Whether it is about objects, one or many, and not a subresource."""
        return self.is_resource and not self.subresource

    @property
    def is_about_secrets(self) -> bool:
        """Whether its answer holds secrets: Secrets, one or many, or a token."""
        return (self.group, self.resource) == ("", "secrets") or self.is_token_request

    @property
    def is_token_request(self) -> bool:
        """Whether it asks for a token of a ServiceAccount."""
        asked = (self.group, self.resource, self.subresource)
        return asked == ("", "serviceaccounts", "token")


def parse_request_info(method: str, raw_path: str, raw_query: str = "") -> RequestInfo:
    """Read a request's method and its still encoded path and query."""
    path = unquote(raw_path)
    parts = path.strip("/").split("/")
    method_verb = _VERBS.get(method, method.lower())
    root = _below_group(parts)
    if root is None:
        return RequestInfo(verb=method_verb, path=path)
    group, version, rest = root
    verb, rest = _without_legacy_verb(method_verb, rest)
    namespace, rest = _without_namespace(rest)
    if not rest or not rest[0]:
        return RequestInfo(verb=method_verb, path=path)
    name = rest[1] if len(rest) > 1 else ""
    # Below the legacy `proxy` verb, what follows the name is the path that is proxied to.
    subresource = rest[2] if len(rest) > 2 and verb != "proxy" else ""
    verb, name = _for_collection(verb, name, raw_query)
    return RequestInfo(verb, path, group, version, rest[0], subresource, namespace, name)


def has_dot_segment(raw_path: str) -> bool:
    """Whether any decoding of a path has a `.` or `..` segment.

    With one, a gateway could leave its base path and reach another cluster. The API server resolves
    none, and answers 404. But gateways decode twice, take `\\` for `/`, or cut a segment at `;`.
    What any of them could read as `.` or `..` counts. A Role may be named `..;x`, and cannot be
    reached then; `a..b`, `...`, `a;b` and `a\\b` can.
    """
    for _ in range(_MOST_DECODINGS):
        if _DOT_SEGMENT.search(raw_path):
            return True
        decoded = unquote(raw_path)
        if decoded == raw_path:
            return False
        raw_path = decoded
    return True


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
