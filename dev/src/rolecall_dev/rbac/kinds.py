"""Which resource a kind is: those of Kubernetes from a table, the project's from its CRDs.

For any other kind we guess the plural, because most plurals are regular, and report the guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rolecall_dev.sources import KUBERNETES_KINDS, plural_of

_FOREIGN = {
    "gateway.networking.k8s.io": "Gateway GatewayClass GRPCRoute HTTPRoute ReferenceGrant",
    "monitoring.coreos.com": "PodMonitor Probe PrometheusRule ServiceMonitor",
    "cert-manager.io": "Certificate CertificateRequest ClusterIssuer Issuer",
    "route.openshift.io": "Route",
    "snapshot.storage.k8s.io": "VolumeSnapshot VolumeSnapshotClass VolumeSnapshotContent",
}
_IRREGULAR = {"Endpoints": "endpoints"}


@dataclass(frozen=True, slots=True)
class KindNames:
    """Looks up the resource of a kind."""

    known: Mapping[tuple[str, str], str]  # (group, kind) -> plural

    @classmethod
    def of(cls, crds: Iterable[Mapping[str, Any]]) -> KindNames:
        """Kubernetes' own, and those of these CRDs."""
        known = {
            (group, kind): plural_of(kind)
            for group, kinds in KUBERNETES_KINDS.items()
            for kind in kinds
        }
        known |= {("", kind): plural for kind, plural in _IRREGULAR.items()}
        for group, foreign in _FOREIGN.items():
            known |= {(group, kind): plural_of(kind) for kind in foreign.split()}
        for crd in crds:
            spec = crd.get("spec") or {}
            names = spec.get("names") or {}
            known[str(spec.get("group")), str(names.get("kind"))] = str(names.get("plural"))
        return cls(known)

    def resource(self, group: str, kind: str) -> tuple[str, bool]:
        """The plural, and whether it is known and not guessed."""
        plural = self.known.get((group, kind))
        return (plural, True) if plural else (plural_of(kind), False)


# YAML as Kubernetes has it, for what needs no places.
def read_plain(path: Path) -> list[dict[str, Any]]:
    """All maps among the documents of a file."""
    try:
        found = list(yaml.safe_load_all(path.read_text(encoding="utf-8-sig")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return []
    return [document for document in found if isinstance(document, dict)]
