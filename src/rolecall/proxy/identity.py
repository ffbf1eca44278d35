"""Who a play works for: the CR's identity, as it travels in the user name of a run's credential.

The format is that of the Go operator (base64 of a compact owner reference plus `Namespace`), because
tools in roles read it. The Go operator encodes with the URL-safe alphabet and decodes with the
standard one; both are understood here. The identity is a name, not a secret: the password beside it is.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rolecall.gvk import Gvk


@dataclass(frozen=True, slots=True)
class Owner:
    """The CR that owns what a run makes; a cluster-scoped one has no namespace.

    One without a UID is in no cluster (a file for a trial of a role): it can own nothing.
    """

    gvk: Gvk
    namespace: str
    name: str
    uid: str

    @classmethod
    def of(cls, cr: Mapping[str, Any]) -> Owner:
        """The identity of an object as the API server returned it."""
        metadata = cr["metadata"]
        return cls(
            gvk=Gvk.parse(cr["apiVersion"], cr["kind"]),
            namespace=metadata.get("namespace", ""),
            name=metadata["name"],
            uid=metadata.get("uid", ""),
        )

    def reference(self) -> dict[str, str]:
        """The owner reference that dependents get: no controller flag, no blocking of deletion."""
        return {
            "apiVersion": self.gvk.api_version,
            "kind": self.gvk.kind,
            "name": self.name,
            "uid": self.uid,
        }


def encode_identity(owner: Owner) -> str:
    text = json.dumps({**owner.reference(), "Namespace": owner.namespace}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode()


def decode_identity(user_name: str) -> Owner | None:
    """The owner that a user name encodes, in either base64 alphabet; None where it encodes none."""
    standard = user_name.replace("-", "+").replace("_", "/")
    padded = standard + "=" * (-len(standard) % 4)
    try:
        fields = json.loads(base64.b64decode(padded, validate=True))
        return Owner(
            gvk=Gvk.parse(fields["apiVersion"], fields["kind"]),
            namespace=fields.get("Namespace", ""),
            name=fields["name"],
            uid=fields["uid"],
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def parse_basic_authorization(header: str) -> tuple[str, str] | None:
    """User name and password of an `Authorization: Basic` header; None for anything else."""
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        pair = base64.b64decode(encoded.strip(), validate=True).decode()
    except ValueError:  # not base64, or not text
        return None
    user_name, separator, password = pair.partition(":")
    return (user_name, password) if separator else None
