"""What a sample's requests reveal of it: which kinds it makes, and whether cases can see each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall.proxy import parse_request_info
from rolecall_dev.proving.undisturbed import kinds_of, looks_everywhere
from rolecall_dev.staging import RequestMark, SeenRequest

NAMESPACE = "case-0a1b2c3d"
KINDS = {
    "mappings": Gvk("routing.example.com", "v1", "Mapping"),
    "configmaps": Gvk("", "v1", "ConfigMap"),
    "events": Gvk("", "v1", "Event"),
    "storageclasses": Gvk("storage.k8s.io", "v1", "StorageClass"),
}


@dataclass(frozen=True)
class Kind:
    gvk: Gvk
    namespaced: bool
    is_watchable: bool = True


class KnowingKinds:
    """A client that knows kinds, and nothing else."""

    @property
    def discovery(self) -> KnowingKinds:
        return self

    async def by_plural(self, _: str, __: str, plural: str) -> Kind | None:
        return Kind(KINDS[plural], plural != "storageclasses") if plural in KINDS else None


def seen(path: str, method: str = "GET") -> SeenRequest:
    info = parse_request_info(method, path)
    return SeenRequest(0, 0.0, RequestMark(method, path), info, "", is_play=True)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/apis/routing.example.com/v1/mappings", True),
        (f"/apis/routing.example.com/v1/namespaces/{NAMESPACE}/mappings", False),
        ("/api/v1/namespaces/kube-system/configmaps", True),
        ("/api/v1/namespaces/kube-system/configmaps/one", False),
        ("/apis/storage.k8s.io/v1/storageclasses", False),
        ("/apis/example.com/v1/not-known-any-more", False),
    ],
)
async def test_play_that_lists_what_other_namespaces_have_is_reported(
    path: str, expected: bool
) -> None:
    client = cast("Client", KnowingKinds())
    assert await looks_everywhere(client, [seen(path)], NAMESPACE) is expected


async def test_events_are_no_objects_that_a_play_makes_and_must_take_back() -> None:
    client = cast("Client", KnowingKinds())
    inside = f"/namespaces/{NAMESPACE}"
    written = [
        seen(f"/apis/routing.example.com/v1{inside}/mappings", "POST"),
        seen(f"/api/v1{inside}/configmaps", "POST"),
        seen(f"/api/v1{inside}/events", "POST"),
        seen("/apis/storage.k8s.io/v1/storageclasses", "POST"),
    ]
    made = await kinds_of(client, written, KINDS["mappings"])
    assert made == ((KINDS["configmaps"],), (KINDS["storageclasses"],))
