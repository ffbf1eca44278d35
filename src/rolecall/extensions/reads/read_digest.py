"""What counts as a change of an object that a play read: less than for one that it made.

The generation, labels and annotations; of a kind without generation whatever the API server counts as
a new version, or, where that counts status too, the content. Bookkeeping of controllers in metadata is
no news to a role that only reads.
"""

from __future__ import annotations

import hashlib
import json

from rolecall.json_object import Json
from rolecall.reactor import digest_of

_COUNTED = ("generation", "labels", "annotations")


class ContentNeededError(Exception):
    """The metadata alone does not show whether such an object changed."""


def read_digest(document: Json, *, has_status: bool) -> bytes:
    """A few bytes that change when something changes that counts."""
    metadata = document["metadata"]
    if metadata.get("generation"):
        counted = {name: metadata.get(name) for name in _COUNTED}
        return _digest(json.dumps(counted, sort_keys=True))
    if not has_status:
        return _digest(str(metadata.get("resourceVersion")))
    if document.get("kind") == "PartialObjectMetadata":
        raise ContentNeededError
    return digest_of(document, is_metadata_only=False)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:8]
