"""Every command, by how it gets to its cluster; `test_cluster_line` fails where one is missing."""

from __future__ import annotations

# By the kubeconfig's current context, or by the engine of that cluster.
FROM_A_KUBECONFIG = [
    ["status"],
    ["status", "website/shop"],
    ["status", "--shards"],
    ["status", "-o", "json"],
    ["runs", "website/shop"],
    ["runs", "website/shop", "--record", "-o", "json"],
    ["logs", "website/shop"],
    ["blame", "website", "shop", "--cr", "website/shop"],
    ["usage"],
    ["page", "--no-open"],
    ["reconcile", "website/shop"],
    ["reconcile", "--all"],
    ["stop", "website/shop"],
    ["pause", "website/shop"],
    ["resume", "website/shop"],
    ["migrate-storage", "website"],
    ["run"],
    ["run-role", "website/shop"],
    ["plan", "website/shop"],
    ["doctor"],
    ["cluster", "kubectl", "--current", "get", "pods"],
]
# Shows what `status` says of its cluster.
BY_OTHER_COMMANDS = {"top"}
# They start a cluster of their own and name it: `test_cluster_line` shows that.
OF_THEIR_OWN = {"demo", "test"}
WITHOUT_CLUSTER = {
    *("bundle", "catalog", "check", "completion", "convert", "create", "init", "rbac"),
    *("version", "webhooks"),
}
# Those that may change something there.
ACTING = {"reconcile", "pause", "resume", "migrate-storage", "stop"}
