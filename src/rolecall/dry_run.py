"""Whether the API server keeps nothing of a write: the one place that knows how a dry run is asked for.

A create, an update and a patch ask in the query. A delete asks in the query only where it has no body:
the API server reads the options of a body alone. A body that cannot be read here asks for nothing.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlencode

_DELETES = frozenset({"DELETE", "delete", "deletecollection"})
_ALL = "All"


def is_dry_run(method: str, query: str, body: object = None) -> bool:
    """Of a write by this method or verb, with this query; a body that is no bytes is a stream."""
    if method in _DELETES and body:
        return _in_options(body)
    asked = parse_qs(query, keep_blank_values=True).get("dryRun", [])
    return set(asked) == {_ALL}


def query_in_force(method: str, query: str, body: bytes) -> str:
    """The query as the API server took it: of a delete with a body, with the body's dry run."""
    if method not in _DELETES or not body:
        return query
    parts = [part for part in query.split("&") if part and "dryRun" not in parse_qs(part, True)]
    return "&".join([*parts, urlencode({"dryRun": _ALL})] if _in_options(body) else parts)


def _in_options(body: object) -> bool:
    if not isinstance(body, bytes):
        return False
    try:
        options: Any = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(options, dict) and options.get("dryRun") == [_ALL]
