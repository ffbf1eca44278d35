"""Writes down what plays ask of the API server, one JSON line a request, for `rolecall rbac --record`.

Only the words that an RBAC rule is made of are written, and whose play it was: no bodies, no queries,
no names of objects in bulk reads. The file is for its owner only, since names of Secrets stand in it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from rolecall.gvk import Gvk
from rolecall.proxy.request_info import RequestInfo


class RequestRecord:
    """Appends to one file, whole lines at a time."""

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._file = os.fdopen(descriptor, "a", encoding="utf-8", buffering=1)

    def write(self, owner: Gvk, verb: str, request: RequestInfo, code: int) -> None:
        line: dict[str, object] = {"for": str(owner), "verb": verb}
        if request.is_resource:
            line |= {"group": request.group, "resource": request.resource}
            line |= {"subresource": request.subresource, "namespace": request.namespace}
            line |= {"name": request.name}
        else:
            line["path"] = request.path
        self._file.write(json.dumps({**line, "code": code}) + "\n")

    def close(self) -> None:
        self._file.close()
