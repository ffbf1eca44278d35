"""Handlers of <<kind>>, run by kopf without the operator; the fixtures come with rolecall-dev."""

from pathlib import Path

import kopf
from kopf.testing import KopfRunner

HANDLERS = Path(__file__).parents[1] / "handlers" / "<<kind_lower>>.py"
KOPF_REGISTRY = kopf.OperatorRegistry()


@kopf.on.login(registry=KOPF_REGISTRY)
def only_into_the_cluster_of_the_test(**known):
    return kopf.login_with_kubeconfig(**known)


def test_handler_writes_into_status(cluster, namespace, apply, eventually, monkeypatch):
    sample = ("<<plural>>.<<group_domain>>", "<<sample_name>>", "--namespace", namespace)
    apply("<<crd_file>>")
    cluster.kubectl("wait", "--for=condition=Established", "crd", "<<plural>>.<<group_domain>>")
    monkeypatch.setenv("KUBECONFIG", str(cluster.kubeconfig))
    arguments = ["run", "--standalone", "--namespace", namespace, str(HANDLERS)]
    with KopfRunner(arguments, registry=KOPF_REGISTRY, timeout=60):
        apply("<<sample_file>>")
        found = eventually(
            lambda: cluster.kubectl_json("get", *sample),
            lambda found: "<<field>>" in found.get("status", {}),
        )
        cluster.kubectl("delete", *sample)  # takes kopf, which has a finalizer on it
    assert found["status"]["<<field>>"] == found["metadata"]["generation"]
