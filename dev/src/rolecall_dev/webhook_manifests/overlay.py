"""What config/default adds to names, since some names are written out in full.

kustomize adds its prefix to names of objects and to most places that refer to them. It does not know
that a variable of a container, the `resourceNames` of a ClusterRole or the Service of a conversion
refer to one. So these are written with the prefix; `rolecall check` tells when it was changed since.
"""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from rolecall.errors import InputError
from rolecall.json_object import Json

_NAME = "webhooks"


@dataclass(frozen=True, slots=True)
class OverlayNames:
    """`namePrefix` and `namespace` of config/default."""

    prefix: str = ""
    namespace: str = "system"

    @property
    def short(self) -> str:
        """In the files, before kustomize adds the prefix."""
        return _NAME

    @property
    def full(self) -> str:
        """In the cluster: of the Service, the Secret and both webhook configurations."""
        return self.prefix + _NAME

    @property
    def user(self) -> str:
        """The operator, as the API server knows it."""
        return f"system:serviceaccount:{self.namespace}:{self.prefix}controller-manager"


def overlay_names(text: str, file: str) -> OverlayNames:
    """Out of the text of config/default/kustomization.yaml."""
    try:
        found: Json = yaml.safe_load(text) or {}
        return OverlayNames(
            str(found.get("namePrefix") or ""), str(found.get("namespace") or "system")
        )
    except (yaml.YAMLError, AttributeError) as error:
        raise InputError(f"{file} could not be read: {error}") from error
