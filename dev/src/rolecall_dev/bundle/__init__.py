"""OLM bundles and catalogs: written from rendered manifests, and checked as OLM checks them."""

from rolecall_dev.bundle.catalog import CATALOG_DOCKERFILE, with_bundle
from rolecall_dev.bundle.faults import Files, dropped_versions, read_bundle, validate
from rolecall_dev.bundle.manifests import split
from rolecall_dev.bundle.scorecard import scores, takes
from rolecall_dev.bundle.webhooks import lost_under_olm
from rolecall_dev.bundle.write import FromRoles, Identity, make_bundle

__all__ = [
    "CATALOG_DOCKERFILE",
    "Files",
    "FromRoles",
    "Identity",
    "dropped_versions",
    "lost_under_olm",
    "make_bundle",
    "read_bundle",
    "scores",
    "split",
    "takes",
    "validate",
    "with_bundle",
]
