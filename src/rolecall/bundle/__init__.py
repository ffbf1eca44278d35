"""OLM bundles and catalogs: written from rendered manifests, and checked as OLM checks them."""

from rolecall.bundle.catalog import with_bundle
from rolecall.bundle.faults import Files, read_bundle, validate
from rolecall.bundle.manifests import Manifests, split
from rolecall.bundle.scorecard import scores
from rolecall.bundle.taken import takes
from rolecall.bundle.version import checked_version
from rolecall.bundle.write import Bundle, Identity, make_bundle

__all__ = [
    "Bundle",
    "Files",
    "Identity",
    "Manifests",
    "checked_version",
    "make_bundle",
    "read_bundle",
    "scores",
    "split",
    "takes",
    "validate",
    "with_bundle",
]
