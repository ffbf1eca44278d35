"""What the operator may do, and where: by each overlay, and as OLM grants it in each install mode."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
import yaml

from rolecall.json_object import Json
from rolecall_dev.localcluster import Binaries, Cluster
from tests.apiserver.deploy.test_deployment import ROOT, moved
from tests.apiserver.kubectl import Kubectl

_RBAC = "rbac.authorization.k8s.io"
ELSEWHERE = "kube-system"
# One of each group of rules: the watched kinds, what roles make, what is asked in mid-run, Events.
IN_NAMESPACES = (
    ("list", "etcdclusters.mycompany.com"),
    ("patch", "machines.compute.rolecall.dev/status"),
    ("delete", "pods"),
    ("create", "pods/exec"),
    ("create", "events"),
)
EVERYWHERE = (
    ("watch", "customresourcedefinitions.apiextensions.k8s.io"),
    ("get", "storageclasses.storage.k8s.io"),
    ("create", "tokenreviews.authentication.k8s.io"),
)
Grant = Callable[[list[Json]], None]


@pytest.fixture
def kubectl(binaries: Binaries, cluster: Cluster) -> Kubectl:
    return Kubectl(binaries, cluster)


@pytest.fixture
def grant(kubectl: Kubectl) -> Iterator[Grant]:
    """Creates what grants rights, and takes it back, since some of it belongs to no namespace."""
    with ExitStack() as undo:

        def create(documents: list[Json]) -> None:
            text = yaml.safe_dump_all(documents)
            undo.callback(kubectl, "delete", "--ignore-not-found", "-f", "-", stdin=text)
            kubectl("apply", "-f", "-", stdin=text)

        yield create


@pytest.fixture
def other_namespace(kubectl: Kubectl) -> Iterator[str]:
    name = f"other-{secrets.token_hex(4)}"
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


def may(kubectl: Kubectl, account: str, verb: str, resource: str, namespace: str) -> bool:
    name, _, sub = resource.partition("/")
    more = [f"--subresource={sub}"] if sub else []
    asked = ["auth", "can-i", verb, name, *more, f"--as={account}", f"--namespace={namespace}"]
    return kubectl.run(*asked).stdout.strip() == "yes"


def expect(kubectl: Kubectl, account: str, *, inside: list[str], outside: list[str]) -> None:
    for verb, resource in IN_NAMESPACES:
        for namespace in inside:
            assert may(kubectl, account, verb, resource, namespace), (verb, resource, namespace)
        for namespace in outside:
            assert not may(kubectl, account, verb, resource, namespace), (verb, resource, namespace)
    for verb, resource in EVERYWHERE:
        assert may(kubectl, account, verb, resource, ELSEWHERE), (verb, resource)


@pytest.mark.parametrize(
    "overlay",
    [
        "all-namespaces",
        *(
            pytest.param(overlay, marks=pytest.mark.nightly)
            for overlay in ("default", "replicas", "shards")
        ),
    ],
)
def test_overlay_grants_rights_where_its_operator_watches(
    kubectl: Kubectl, grant: Grant, namespace: str, overlay: str
) -> None:
    kubectl.install("-k", str(ROOT / "crds"))
    _, rest = moved(kubectl.rendered(ROOT / "config" / overlay), namespace)
    grant([it for it in rest if it["apiVersion"].startswith(_RBAC)])
    (deployment,) = [it for it in rest if it["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    account = f"system:serviceaccount:{namespace}:{pod['serviceAccountName']}"
    is_narrow = overlay == "default"
    expect(
        kubectl,
        account,
        inside=[namespace] if is_narrow else [namespace, ELSEWHERE],
        outside=[ELSEWHERE] if is_narrow else [],
    )
    assert may(kubectl, account, "update", "leases.coordination.k8s.io", namespace)
    assert not may(kubectl, account, "update", "leases.coordination.k8s.io", ELSEWHERE)
    watched = [row for row in pod["containers"][0]["env"] if row["name"] == "WATCH_NAMESPACE"]
    assert bool(watched) == is_narrow, "it watches where it has rights, and nowhere else"


def as_olm(csv: Json, home: str, targets: list[str]) -> list[Json]:
    """The roles and bindings that OLM makes from a CSV for an OperatorGroup's target namespaces."""
    install = csv["spec"]["install"]["spec"]
    made = []
    for key in ("permissions", "clusterPermissions"):
        for number, row in enumerate(install[key]):
            is_wide = key == "clusterPermissions" or not targets
            for place in [""] if is_wide else dict.fromkeys([home, *targets]):
                made += bound(f"{home}-{key.lower()}-{number}", place, home, row)
    return made


def bound(name: str, place: str, home: str, row: Json) -> list[Json]:
    """A role in one namespace, or in the cluster where there is none, and its binding."""
    kind = "Role" if place else "ClusterRole"
    metadata = {"name": name, **({"namespace": place} if place else {})}
    shared = {"apiVersion": f"{_RBAC}/v1", "metadata": metadata}
    account = {
        "kind": "ServiceAccount",
        "name": row["serviceAccountName"],
        "namespace": home,
    }
    return [
        {**shared, "kind": kind, "rules": row["rules"]},
        {
            **shared,
            "kind": f"{kind}Binding",
            "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": name},
            "subjects": [account],
        },
    ]


@pytest.mark.nightly
def test_bundle_grants_rights_in_all_namespaces(
    kubectl: Kubectl, grant: Grant, namespace: str, other_namespace: str
) -> None:
    """The one install mode that OLM has for kinds that are converted."""
    kubectl.install("-k", str(ROOT / "crds"))
    file = ROOT / "bundle" / "manifests" / "rolecall.clusterserviceversion.yaml"
    csv: Json = yaml.safe_load(file.read_text())
    modes = {row["type"] for row in csv["spec"]["installModes"] if row["supported"]}
    assert modes == {"AllNamespaces"}
    grant(as_olm(csv, namespace, []))
    account = f"system:serviceaccount:{namespace}:rolecall-controller-manager"
    expect(
        kubectl,
        account,
        inside=[namespace, other_namespace, ELSEWHERE],
        outside=[],
    )
    assert may(kubectl, account, "update", "leases.coordination.k8s.io", namespace)
