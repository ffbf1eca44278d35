"""Lets the runs of one host share what an API server offers, in files that kubernetes.core writes.

kubernetes.core keeps its discovery in a file of the temporary folder, and reads the server anew where a
kind is missing. Runs have temporary folders of their own, so each would discover everything again. The
file holds no credential and no object, only kinds; it is the host's, by URL of the server without the
login in it, which names the CR: what a server offers is the same for all. It is not trusted for long,
since a CRD may be replaced by another of the same name.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import time
from pathlib import Path
from typing import Any

_MODULE = "ansible_collections.kubernetes.core.plugins.module_utils.client.discovery"
_OLDEST_S = 300.0


def share_discovery(folder: Path) -> None:
    """Keep discovery files in `folder`; does nothing where kubernetes.core is not installed."""
    discovery: Any = sys.modules.get(_MODULE)
    if discovery is None or not hasattr(discovery, "Discoverer"):
        return
    original = discovery.Discoverer.__init__

    @functools.wraps(original)
    def initialize(self: Any, client: Any, cache_file: str | None) -> None:
        original(self, client, cache_file or str(_file_for(folder, client)))

    discovery.Discoverer.__init__ = initialize


def _file_for(folder: Path, client: Any) -> Path:
    server = _without_login(str(client.configuration.host))
    name = hashlib.sha256(server.encode()).hexdigest()[:32]
    path = folder / f"{name}.json"
    try:
        # One of the future is of a clock that was set back since, and would stay for as long.
        if not 0 <= time.time() - path.stat().st_mtime <= _OLDEST_S:
            path.unlink(missing_ok=True)
    except OSError:
        pass  # not there yet
    return path


def _without_login(url: str) -> str:
    scheme, mark, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{mark}{authority.rpartition('@')[2]}{slash}{path}"
