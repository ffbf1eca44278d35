"""Registrations of webhooks at a real API server."""

from __future__ import annotations

import json

import pytest

from rolecall.extensions.versions.flags import VersionFlags
from rolecall.extensions.versions.webhooks.publication import reach_of
from rolecall.settings import Settings
from rolecall.webhooks import Webhook, registration_of
from rolecall_dev.localcluster import Cluster
from tests.fixtures.cluster import unique_name

BY_SERVICE = Settings(is_in_pod=True, of_extensions=(VersionFlags(service="webhooks"),))
BY_URL = Settings()


@pytest.mark.fast
@pytest.mark.parametrize("settings", [BY_SERVICE, BY_URL], ids=["service", "url"])
@pytest.mark.parametrize("is_mutating", [False, True], ids=["validate", "mutate"])
def test_api_server_takes_a_kind_whose_name_has_capital_letters(
    cluster: Cluster, settings: Settings, is_mutating: bool
) -> None:
    webhook = Webhook(is_mutating, "example.com", "v1alpha1", "BigCrate")
    reach = reach_of(settings, "127.0.0.1", 9443)
    assert reach is not None
    client_config = reach.client_config(webhook.path, "")
    row = registration_of(webhook, "bigcrates", client_config, "system:serviceaccount:a:b")
    configuration = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{'Mutating' if is_mutating else 'Validating'}WebhookConfiguration",
        "metadata": {"name": unique_name()},
        "webhooks": [row],
    }
    words = ("create", "--dry-run=server", "-f", "-")
    assert not cluster.refusal(*words, stdin=json.dumps(configuration))
