"""Which objects a failed write may be about: by the API server's plurals, and the case's namespace."""

from __future__ import annotations

import pytest

from rolecall.proxy import parse_request_info
from rolecall_dev.proving.checks.errors import ids_of
from rolecall_dev.proving.undisturbed import Undisturbed
from rolecall_dev.staging import NO_LEEWAY, EndState, Traffic

NAMESPACE = "case-0a1b2c3d"
IDS = (
    "Ingress.networking.k8s.io/web",
    "Mouse.example.com/web",
    "ConfigMap/web",
    "ConfigMap/other",
    "ClusterRole.rbac.authorization.k8s.io/web-<namespace>",
    "ClusterRole.rbac.authorization.k8s.io/web",
)
KNOWN = Undisturbed(
    end=EndState(),
    leeway=NO_LEEWAY,
    at_first_success=EndState({key: {} for key in IDS}),
    requests=(),
    kinds=(),
    wide_kinds=(),
    is_confined=True,
    settles=True,
    fails=False,
    cr={},
    objects=(),
    places={},
    plurals={
        "Ingress.networking.k8s.io": "ingresses",
        "Mouse.example.com": "mice",
        "ConfigMap": "configmaps",
        "ClusterRole.rbac.authorization.k8s.io": "clusterroles",
    },
)
RBAC = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


@pytest.mark.parametrize(
    ("method", "path", "ids"),
    [
        (
            "PATCH",
            f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/ingresses/web",
            {"Ingress.networking.k8s.io/web"},
        ),
        (
            "PUT",
            f"/apis/example.com/v1/namespaces/{NAMESPACE}/mice/web",
            {"Mouse.example.com/web"},
        ),
        (
            "POST",
            f"/api/v1/namespaces/{NAMESPACE}/configmaps",
            {"ConfigMap/web", "ConfigMap/other"},
        ),
        (
            "PATCH",
            f"{RBAC}/web-{NAMESPACE}",
            {"ClusterRole.rbac.authorization.k8s.io/web-<namespace>"},
        ),
        ("PATCH", f"{RBAC}/web", {"ClusterRole.rbac.authorization.k8s.io/web"}),
        ("PATCH", f"/api/v1/namespaces/{NAMESPACE}/services/web", set()),
    ],
)
def test_write_is_about_the_objects_of_its_path(method: str, path: str, ids: set[str]) -> None:
    traffic = Traffic(NAMESPACE)
    asked = traffic.note(method, parse_request_info(method, path), "", is_play=True, at_s=0.0)
    assert ids_of(KNOWN, asked, NAMESPACE) == ids
