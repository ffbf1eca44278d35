"""OLM bundles and catalogs: written from rendered manifests, and checked as OLM checks them."""

from rolecall_dev.bundle.catalog import with_bundle
from rolecall_dev.bundle.faults import Files, read_bundle, validate
from rolecall_dev.bundle.manifests import Manifests, split
from rolecall_dev.bundle.scorecard import scores
from rolecall_dev.bundle.taken import takes
from rolecall_dev.bundle.version import checked_version
from rolecall_dev.bundle.write import Bundle, Identity, make_bundle

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
