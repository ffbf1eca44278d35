"""Paths and queries of requests of plays: read by the proxy, and by a transcription of the API server's
own reader (`k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`).

Where the two disagreed, a play of admission could write, or an object be made without its owner.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rolecall.proxy.request_info import has_dot_segment, parse_request_info
from tests.unit.hostile.dice import Dice
from tests.unit.hostile.entry_point import Check, EntryPoint, must

_METHODS = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_PARTS = (
    *(
        "api",
        "apis",
        "v1",
        "apps",
        "namespaces",
        "pods",
        "configmaps",
        "secrets",
        "status",
        "finalize",
    ),
    *(
        "watch",
        "proxy",
        "exec",
        "log",
        "a",
        "shop",
        "deployments",
        "",
        "..",
        ".",
        "%2e%2e",
        "%2F",
        "a%2Fb",
    ),
    *(
        "%252e%252e",
        "..;x",
        "a;b",
        "a\\b",
        "%5c..",
        "..%5c",
        "%00",
        "%zz",
        "%c0%ae",
        "x.y.z",
        "~",
        "%ff",
    ),
)
_QUERIES = (
    *(
        "",
        "watch=true",
        "watch=false",
        "watch=0",
        "watch",
        "watch=",
        "watch=1&watch=0",
        "dryRun=All",
    ),
    *(
        "fieldSelector=metadata.name%3Da",
        "fieldSelector=metadata.name=a,x=y",
        "fieldSelector=metadata.name!=a",
    ),
    *(
        "fieldSelector=metadata.name==a",
        "limit=5",
        "a=b;watch=true",
        "%77atch=true",
        "watch=%74rue",
    ),
)


def _make(dice: Dice) -> dict[str, Any]:
    head = dice.pick((["api", "v1"], ["apis", "apps", "v1"], ["api"], [], ["apis", "apps"]))
    if dice.happens(0.4):
        head = [*head, *dice.pick((["namespaces", "shop"], ["namespaces"], ["watch"], ["proxy"]))]
    parts = [*head, *dice.some(_PARTS, 5)]
    path = "/" + "/".join(parts) + dice.pick(("", "", "/", "//"))
    if dice.happens(0.2):
        path = dice.damaged(path, 1)
    return {"method": dice.pick(tuple(_METHODS)), "path": path, "query": dice.pick(_QUERIES)}


@contextmanager
def _open(_folder: Path) -> Iterator[Check]:
    yield _check


def _check(case: Any) -> bool:
    method, path, query = case["method"], case["path"], case["query"]
    is_refused = has_dot_segment(path)
    must(is_refused or not _has_dots(path), "what any decoding could resolve is refused")
    info = parse_request_info(method, path, query)
    reported = _by_the_server(method, path, query)
    if reported is None:
        must(
            not info.is_resource or info.resource in ("watch", "proxy"),
            "no resource is no resource",
        )
        return not is_refused
    ours = (info.group, info.version, info.resource, info.subresource, info.namespace, info.name)
    must(ours == reported[1:], f"the server reads {reported[1:]}, the proxy {ours}")
    must(
        info.verb == reported[0], f"the server reads the verb {reported[0]}, the proxy {info.verb}"
    )
    return not is_refused


def _has_dots(path: str) -> bool:
    for _ in range(3):
        if {".", ".."} & set(path.replace("\\", "/").split("/")):
            return True
        path = unquote(path)
    return False


def _by_the_server(method: str, raw_path: str, query: str) -> tuple[str, ...] | None:
    """Verb, group, version, resource, subresource, namespace, name; None where it is no resource."""
    parts = unquote(raw_path).strip("/").split("/")
    if len(parts) < 3 or parts[0] not in ("api", "apis"):
        return None
    prefix, parts, group = parts[0], parts[1:], ""
    if prefix == "apis":
        if len(parts) < 3:
            return None
        group, parts = parts[0], parts[1:]
    version, parts = parts[0], parts[1:]
    verb = _METHODS[method]
    if parts[0] in ("watch", "proxy"):
        if len(parts) < 2:
            return None  # the server answers 500
        verb, parts = parts[0], parts[1:]
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 1:
        namespace = parts[1]
        if len(parts) > 2 and parts[2] not in ("status", "finalize"):
            parts = parts[2:]
    subresource = parts[2] if len(parts) >= 3 and verb != "proxy" else ""
    name = parts[1] if len(parts) >= 2 else ""
    if not name:
        verb, name = _of_a_collection(verb, query)
    if not parts[0]:
        return None  # it has no resource to authorize, and is not found
    return verb, group, version, parts[0], subresource, namespace, name


def _of_a_collection(verb: str, query: str) -> tuple[str, str]:
    if verb == "delete":
        return "deletecollection", ""
    if verb not in ("get", "watch"):
        return verb, ""
    rows = [row.partition("=") for row in query.split("&") if row and ";" not in row]
    values: dict[str, str] = {}
    for key, _, value in rows:
        values.setdefault(unquote(key), unquote(value))
    if verb == "get":
        is_watch = "watch" in values and values["watch"].lower() not in ("false", "0")
        verb = "watch" if is_watch else "list"
    for term in values.get("fieldSelector", "").split(","):
        for operator in ("!=", "==", "="):
            field, found, value = term.partition(operator)
            if found:
                if field == "metadata.name" and operator != "!=":
                    return verb, value
                break
    return verb, ""


REQUEST_PATHS = EntryPoint("request_paths", _make, _open, cases=4000)
