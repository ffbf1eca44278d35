"""Which CRs are watched: what replicas that divide them must agree on, and no more."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from dataclasses import asdict

from rolecall.watches import Watch

_DIGEST_LENGTH = 10


def digest_of_watched(watches: Iterable[Watch], namespaces: Collection[str]) -> str:
    kinds = sorted(
        [each.gvk.group, each.gvk.kind, json.dumps(asdict(each.selector), sort_keys=True)]
        for each in watches
    )
    text = json.dumps([kinds, sorted(namespaces)])
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]
