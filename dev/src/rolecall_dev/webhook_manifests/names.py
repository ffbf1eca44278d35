"""What the manifests of webhooks are about, and what it is called in the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from rolecall.errors import InputError
from rolecall.json_object import Json
from rolecall.webhooks import Webhook


# What of a project the API server asks the operator about.
@dataclass(frozen=True, slots=True)
class KindCrd:
    """What a kind's CRD calls it."""

    group: str
    kind: str
    plural: str

    @property
    def name(self) -> str:
        return f"{self.plural}.{self.group}"


@dataclass(frozen=True, slots=True)
class WebhookSubjects:
    """Kinds that are converted, and writes that are asked about."""

    converted: Sequence[KindCrd] = ()
    webhooks: Sequence[tuple[Webhook, KindCrd]] = ()
    policies: Sequence[Json] = ()  # what the API server checks by itself, as manifests
    # CRD to the steps of a JSON patch: rules that are checked wherever an object is stored.
    schema_rules: Sequence[tuple[str, Sequence[Json]]] = ()

    @property
    def has_server(self) -> bool:
        """Whether the operator is asked anything at all."""
        return bool(self.converted or self.webhooks)

    @property
    def is_empty(self) -> bool:
        return not (self.has_server or self.policies or self.schema_rules)


# What config/default adds to names, since some names are written out in full.
# kustomize adds its prefix to names of objects and to most places that refer to them. It does not
# know that a variable of a container, the `resourceNames` of a ClusterRole or the Service of a
# conversion refer to one. So these are written with the prefix; `rolecall check` reports a later change
# of the prefix.

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


# How the API server finds the operator's server: by a Service.

SERVER_PORT = 9443


def service_config(names: OverlayNames, path: str) -> Json:
    """A `clientConfig`, without whom to trust: the operator or cert-manager fills that in."""
    service = {"namespace": names.namespace, "name": names.full, "path": path, "port": 443}
    return {"service": service}
