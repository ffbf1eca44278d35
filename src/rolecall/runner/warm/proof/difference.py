"""Says what differs between two runs of a group, in few words and at the first place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from rolecall.runner.warm.proof.groups import CaseGroup, GroupOutcome, differing

_LONGEST = 120
_NOTHING = "<nothing>"


@dataclass(frozen=True, slots=True)
class ProofDifference:
    """One thing that a warm run did otherwise."""

    case: str  # `<group>: <case>`
    event: str  # of ansible-runner, with its task
    field: str
    stock: str  # both values shortened
    warm: str

    def __str__(self) -> str:
        return (
            f"case `{self.case}`, {self.event}, `{self.field}`: "
            f"`{self.stock}` the stock way, `{self.warm}` warm"
        )


def first_difference(
    group: CaseGroup, stock: GroupOutcome, warm: GroupOutcome
) -> ProofDifference | None:
    """The report on two runs that are not the same; None: they are."""
    part = next(differing(group, stock, warm), None)
    if part is None:
        return None
    case = f"{group.name}: {part}"
    if part not in {**stock.slices, **warm.slices}:
        values = getattr(stock, part), getattr(warm, part)
        return _difference(case, f"the run's {part}", values)
    slices = stock.slices.get(part, []), warm.slices.get(part, [])
    for one, other in zip_longest(*slices, fillvalue=_NOTHING):
        if one != other:
            return _difference(case, _name_of(other if one == _NOTHING else one), (one, other))
    return ProofDifference(
        case, "its events", "order", "", ""
    )  # of those that may come in any order


def _difference(case: str, event: str, values: tuple[Any, Any]) -> ProofDifference:
    path, one, other = next(_unequal(*values))
    return ProofDifference(case, event, path.lstrip(".") or "whole", *_shortened(one, other))


def _unequal(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}, key=_last_what_repeats):
            below = one.get(key, _NOTHING), other.get(key, _NOTHING)
            yield from _unequal(*below, f"{path}.{key}")
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        for number, pair in enumerate(zip_longest(one, other, fillvalue=_NOTHING)):
            yield from _unequal(*pair, f"{path}[{number}]")
    elif one != other:
        yield path, one, other


def _last_what_repeats(key: str) -> tuple[bool, str]:
    """What an event prints says again what its data say, only longer."""
    return key == "stdout", key


def _name_of(event: Any) -> str:
    task = event.get("event_data", {}).get("task", "")
    return f"`{event['event']}`" + (f" of task `{task}`" if task else "")


def _shortened(one: Any, other: Any) -> tuple[str, str]:
    """Both from a little before they part, so that what is cut is what they share."""
    texts = [_text(one), _text(other)]
    pairs = enumerate(zip(*texts, strict=False))
    parted = next((at for at, (a, b) in pairs if a != b), min(len(text) for text in texts))
    start = max(0, parted - _LONGEST // 2)
    cut = [text[start : start + _LONGEST] for text in texts]
    return ("..." if start else "") + cut[0], ("..." if start else "") + cut[1]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.replace("\n", "\\n")
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
