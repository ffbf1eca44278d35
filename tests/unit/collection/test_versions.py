"""Versions in their order."""

from __future__ import annotations

import pytest

from tests.unit.collection.plugins import part

version_sort = part("plugin_utils.versions").version_sort


def test_versions_are_in_order_of_their_numbers_and_each_once() -> None:
    versions = ["3.10.0", "3.9.1", "", "v3.9.2", None, "3.9.1"]
    assert version_sort(versions) == ["3.9.1", "v3.9.2", "3.10.0"]
    assert version_sort([]) == []


def test_version_that_is_no_list_of_numbers_is_named() -> None:
    with pytest.raises(ValueError, match="`latest` must be numbers"):
        version_sort(["3.9.1", "latest"])
