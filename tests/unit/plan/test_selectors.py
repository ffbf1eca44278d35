"""Of field selectors the little that is sure."""

from __future__ import annotations

from rolecall.plan.selectors import names_of_fields


def test_only_names_are_known_of_field_selectors() -> None:
    assert names_of_fields("") == {}
    assert names_of_fields("metadata.name=x,metadata.namespace==y") == {
        "name": "x",
        "namespace": "y",
    }
    assert names_of_fields("status.phase=Running") is None
    assert names_of_fields("metadata.name!=x") is None
