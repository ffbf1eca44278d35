"""Quantities of Kubernetes as numbers, since `1Ti` and `1024Gi` are the same."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

_SHAPE = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))([eE][+-]?\d{1,2}|[numkMGTPE]|[KMGTPE]i)?")
_FACTORS = {
    **{sign: Decimal(10) ** power for sign, power in zip("numkMGTPE", (-9, -6, -3, 3, 6, 9, 12, 15, 18))},
    **{f"{sign}i": Decimal(1024) ** power for power, sign in enumerate("KMGTPE", 1)},
}


def quantity(value: Any) -> int | float:
    """`1.5Gi` -> 1610612736, `100m` -> 0.1; numbers stay what they are."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    found = _SHAPE.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or len(value) > 100:
        raise ValueError(f"`{str(value)[:100]}` is not a quantity, such as 500m, 2 or 1Gi")
    digits, suffix = found[1], found[2] or ""
    if suffix[:1] in ("e", "E") and len(suffix) > 1 and suffix != "Ei":
        number = Decimal(digits + suffix)
    else:
        number = Decimal(digits) * _FACTORS.get(suffix, Decimal(1))
    return int(number) if number == number.to_integral_value() else float(number)
