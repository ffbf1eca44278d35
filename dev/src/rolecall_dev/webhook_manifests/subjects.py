"""What of a project the API server asks the operator about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rolecall.json_object import Json
from rolecall.webhooks import Webhook


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
