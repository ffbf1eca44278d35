"""Cases run side by side only where none can see what another one has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest

from rolecall.kube import Client
from rolecall.proxy import parse_request_info
from rolecall_dev.proving.undisturbed import looks_everywhere
from rolecall_dev.staging import RequestMark, SeenRequest

NAMESPACE = "case-0a1b2c3d"
NAMESPACED = {"mappings": True, "configmaps": True, "storageclasses": False}


@dataclass(frozen=True)
class Kind:
    namespaced: bool


class KnowingKinds:
    """A client that knows kinds, and nothing else."""

    @property
    def discovery(self) -> KnowingKinds:
        return self

    async def by_plural(self, _: str, __: str, plural: str) -> Kind | None:
        return Kind(NAMESPACED[plural]) if plural in NAMESPACED else None


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
async def test_play_that_lists_what_other_namespaces_have_is_told(
    path: str, expected: bool
) -> None:
    client = cast("Client", KnowingKinds())
    assert await looks_everywhere(client, [seen(path)], NAMESPACE) is expected
