"""One webhook for admission: what the API server is told of it, and what manifests say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# In place of the core group, which has no name.
_CORE = "core"


@dataclass(frozen=True, slots=True)
class Webhook:
    """Which requests are asked about, where, and what happens where nobody answers."""

    is_mutating: bool
    group: str
    version: str  # that of the watch; objects at others are converted before they are shown
    kind: str
    operations: Sequence[str] = ("CREATE", "UPDATE")
    subresources: Sequence[str] = ()  # `scale`, `status`; the object itself always counts
    failure_policy: str = "Fail"
    timeout_s: int = 10
    match_conditions: Sequence[Mapping[str, str]] = ()  # name and expression, as the API has them
    namespace_selector: Mapping[str, Any] = field(default_factory=dict)
    object_selector: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What users read in a denial: `validate.appoperator.tools.rolecall.dev`."""
        return f"{self._verb}.{self.kind.lower()}.{self.group or _CORE}"

    @property
    def path(self) -> str:
        """Where it is asked: `/validate/tools.rolecall.dev/v1/appoperator`.

        In small letters: behind a Service, the API server takes no others.
        """
        return f"/{self._verb}/{self.group or _CORE}/{self.version}/{self.kind.lower()}"

    @property
    def _verb(self) -> str:
        return "mutate" if self.is_mutating else "validate"
