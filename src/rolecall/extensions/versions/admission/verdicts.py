"""The result of each admission request, from plays and from handlers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from rolecall.clock import Clock
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.webhooks import Webhook


class OnVerdict(Protocol):
    def __call__(
        self, gvk: Gvk, *, review: str, operation: str, result: str, seconds: float
    ) -> None:
        """One request is answered; `result`: allowed, denied or failed."""


@dataclass(slots=True)
class CountedVerdict:
    """Failed, until `is_allowed` is called."""

    result: str = "failed"

    def is_allowed(self, yes: bool) -> None:
        self.result = "allowed" if yes else "denied"


@contextmanager
def counted(
    webhook: Webhook, request: Json, clock: Clock, on_verdict: OnVerdict
) -> Iterator[CountedVerdict]:
    """Report the verdict that the context reaches, and how long it took."""
    verdict, began_s = CountedVerdict(), clock.monotonic()
    try:
        yield verdict
    finally:
        on_verdict(
            Gvk(webhook.group, webhook.version, webhook.kind),
            review="mutate" if webhook.is_mutating else "validate",
            operation=str(request.get("operation") or ""),
            result=verdict.result,
            seconds=clock.monotonic() - began_s,
        )
