"""What watches.yaml says of requests that are asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rolecall.watches import Play


@dataclass(frozen=True, slots=True)
class AdmissionRule:
    """One CEL expression, which the API server checks by itself."""

    rule: str
    message: str
    line: int = 0
    # With `self`: a validation rule of the CRD. Else one of a ValidatingAdmissionPolicy.
    is_of_schema: bool = False


@dataclass(frozen=True, slots=True)
class Admission:
    """What the API server asks before it stores an object, and which requests it asks about."""

    play: Play | None = None  # None: rules alone
    line: int = 0
    operations: Sequence[str] = ("CREATE", "UPDATE")
    subresources: Sequence[str] = ()
    failure_policy: str = "Fail"
    timeout_s: int = 10
    match_conditions: Sequence[Mapping[str, str]] = ()  # name and expression
    # As the API has them, checked.
    namespace_selector: Mapping[str, Any] = field(default_factory=dict)
    object_selector: Mapping[str, Any] = field(default_factory=dict)
    rules: Sequence[AdmissionRule] = ()
