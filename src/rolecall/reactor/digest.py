"""What of an object counts as changed: all but what servers and controllers keep there for themselves.

Left out are `status`, `resourceVersion` and `managedFields`. The Go operator leaves out only the
times of the latter, and therefore runs once more when somebody writes a status for the first time,
though nothing else changed; whoever changes a field that matters is seen by that field.

Of an object that has a generation, and whose kind has a status subresource, the generation stands
for the content, and metadata is enough. Of all others the content itself is looked at; there a
generation says nothing new (where status is no subresource, it counts status writes too), so it is
left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_BOOKKEEPING = frozenset({"resourceVersion", "managedFields"})


def digest_of(document: Mapping[str, Any], *, is_metadata_only: bool) -> bytes:
    """A few bytes that change when, and only when, something that counts does."""
    ignored = _BOOKKEEPING if is_metadata_only else _BOOKKEEPING | {"generation"}
    metadata = document.get("metadata") or {}
    counted: dict[str, Any] = {
        "metadata": {key: value for key, value in metadata.items() if key not in ignored}
    }
    if not is_metadata_only:
        counted |= {
            key: value for key, value in document.items() if key not in ("metadata", "status")
        }
    text = json.dumps(counted, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(text).digest()[:8]
