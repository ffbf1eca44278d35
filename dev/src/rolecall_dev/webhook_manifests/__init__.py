"""The manifests in config/webhooks: how the API server reaches an operator in the cluster."""

from rolecall_dev.webhook_manifests.files import DEFAULT_OVERLAY, FOLDER, ITEM, manifest_files
from rolecall_dev.webhook_manifests.names import (
    KindCrd,
    OverlayNames,
    WebhookSubjects,
    overlay_names,
)

__all__ = [
    "DEFAULT_OVERLAY",
    "FOLDER",
    "ITEM",
    "KindCrd",
    "OverlayNames",
    "WebhookSubjects",
    "manifest_files",
    "overlay_names",
]
