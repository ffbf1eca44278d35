"""What people write into Leases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rolecall.json_object import Json, as_map

Edit = Callable[[Json], Json]


def with_spec(**fields: Any) -> Edit:
    return lambda lease: {**lease, "spec": {**as_map(lease.get("spec")), **fields}}


def with_holder(holder: str) -> Edit:
    return with_spec(holderIdentity=holder)


def with_annotations(**fields: Any) -> Edit:
    def change(lease: Json) -> Json:
        metadata = lease["metadata"]
        said = {**as_map(metadata.get("annotations")), **fields}
        return {**lease, "metadata": {**metadata, "annotations": said}}

    return change


def with_nonsense(lease: Json) -> Json:
    return {**lease, "spec": "x"}
