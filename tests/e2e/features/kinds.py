"""The kinds of the shared engine."""

from __future__ import annotations

import yaml

from rolecall.gvk import Gvk
from tests.e2e.engine import PROJECT
from tests.e2e.kinds import kind
from tests.e2e.wanted_kinds import HEAP, VAULT
from tests.fixtures.crds import crd_for

SHOWN, ACTING = (Gvk("skips.rolecall.dev", "v1", name) for name in ("Shown", "Acting"))
SHELF, SITE = (Gvk("demo.example.com", "v1", name) for name in ("Shelf", "Site"))
MAKER = kind("Maker")
_MEMCACHED = PROJECT / "config" / "crd" / "bases" / "cache.example.com_memcacheds.yaml"
CRDS = [
    yaml.safe_load(_MEMCACHED.read_text()),
    *(crd_for(gvk) for gvk in (SHOWN, ACTING, SHELF, SITE, MAKER, HEAP, VAULT)),
]
