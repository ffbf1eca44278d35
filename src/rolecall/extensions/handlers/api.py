"""What a handler may ask of the operator, and what the operator reports beside what kopf does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Function = Callable[..., Any]
_asked: list[
    Callable[[Mapping[str, Any], str], None]
] = []  # by whom a run is asked for; one, or none
_for_ends: list[tuple[str, Function]] = []


def reconcile(body: Mapping[str, Any], why: str = "a handler asked for it") -> None:
    """Let the role of a CR run at once; `body` is what kopf gives the handler."""
    for ask in _asked:
        ask(body, why)


def on_run_ended(kind: str) -> Callable[[Function], Function]:
    """Call the function when a run of a CR of this kind is over.

    It gets what kopf gives, as far as it is known: `name`, `namespace`, `uid`, `body`, and `succeeded`,
    `message`, `changed` (how many tasks changed something), `logger`.
    """

    def decorate(fn: Function) -> Function:
        _for_ends.append((kind, fn))
        return fn

    return decorate


def ask_by(ask: Callable[[Mapping[str, Any], str], None]) -> None:
    """Let `reconcile` reach the operator."""
    _asked[:] = [ask]


def functions_of(kind: str) -> list[Function]:
    """Those that wait for the end of runs of a kind."""
    return [fn for wanted, fn in _for_ends if wanted in (kind, kind.lower(), f"{kind.lower()}s")]
