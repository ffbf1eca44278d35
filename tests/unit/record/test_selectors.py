"""Label selectors hold for what the API server's would; so does what a list may have shown."""

from __future__ import annotations

import pytest

from rolecall.record import SelectorError, meets_selector, names_of_fields, selects

LABELS = {"app": "web", "tier": "front", "n": "5"}


@pytest.mark.parametrize(
    ("selector", "holds"),
    [
        ("", True),
        ("app=web", True),
        ("app==web,tier=front", True),
        ("app = web", True),
        ("app=api", False),
        ("app!=api", True),
        ("none!=x", True),
        ("app", True),
        ("!app", False),
        ("!none", True),
        ("app in (api, web)", True),
        ("app notin (api,web)", False),
        ("none notin (a)", True),
        ("app in (api,web),tier in (back)", False),
        ("n>4", True),
        ("n<5", False),
        ("app>4", False),
    ],
)
def test_label_selector_is_read_as_the_api_server_reads_it(selector: str, holds: bool) -> None:
    assert selects(selector, LABELS) is holds


def test_selector_that_cannot_be_read_is_no_selector() -> None:
    with pytest.raises(SelectorError):
        selects("a=b=c", LABELS)


def test_list_by_a_number_is_not_read_as_one_by_a_label_of_that_name() -> None:
    assert meets_selector({"size": "7"}, "size>5")
    assert not meets_selector({"size": "3"}, "size>5")


def test_what_cannot_be_read_may_show_everything() -> None:
    assert meets_selector({}, "a=b=c")
    assert not meets_selector({}, "a=b=c,app=web")


def test_only_names_are_known_of_field_selectors() -> None:
    assert names_of_fields("") == {}
    assert names_of_fields("metadata.name=x,metadata.namespace==y") == {
        "name": "x",
        "namespace": "y",
    }
    assert names_of_fields("status.phase=Running") is None
    assert names_of_fields("metadata.name!=x") is None
