"""Which objects lose their owner: those that only the CR owns."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rolecall.json_object import Json
from rolecall_dev.proving.checks import drift
from rolecall_dev.proving.model import Subject
from rolecall_dev.staging import NO_LEEWAY
from tests.unit.proving.test_ids_of_writes import KNOWN

OURS, OTHERS = {"kind": "Site", "uid": "u-1"}, {"kind": "Disk", "uid": "u-2"}


def reported(monkeypatch: pytest.MonkeyPatch, *owners: dict[str, str]) -> list[str]:
    """Cases for one object with these owners, of which the role set no field."""
    metadata: dict[str, Any] = {"name": "a", "ownerReferences": list(owners)}
    obj: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    known = replace(KNOWN, cr={"metadata": {"uid": "u-1"}}, objects=(obj,), leeway=NO_LEEWAY)
    monkeypatch.setattr(drift, "_made_objects", lambda _: [obj])
    subject = cast(Subject, SimpleNamespace(sample="Site/blog", undisturbed=known))
    return [case.reported for case in drift.DRIFT.cases(subject)]


def test_object_that_the_cr_owns_is_stripped_of_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "ConfigMap/a stripped of its owner" in reported(monkeypatch, OURS)


@pytest.mark.parametrize("owners", [(), (OTHERS,), (OURS, OTHERS)])
def test_object_without_an_owner_or_with_others_is_not(
    monkeypatch: pytest.MonkeyPatch, owners: tuple[dict[str, str], ...]
) -> None:
    assert reported(monkeypatch, *owners) == ["ConfigMap/a deleted"]
