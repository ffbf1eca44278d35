from __future__ import annotations

import pytest

from rolecall.watches import Requirement, Selector


@pytest.mark.parametrize(
    ("row", "labels", "wanted"),
    [
        (Requirement("zone", "In", ("a", "b")), {"zone": "a"}, True),
        (Requirement("zone", "In", ("a", "b")), {"zone": "c"}, False),
        (Requirement("zone", "In", ("a", "b")), {}, False),
        (Requirement("zone", "NotIn", ("a", "b")), {"zone": "a"}, False),
        (Requirement("zone", "NotIn", ("a", "b")), {"zone": "c"}, True),
        # As in Kubernetes: who has no such label is not among the values.
        (Requirement("zone", "NotIn", ("a", "b")), {}, True),
        (Requirement("zone", "Exists"), {"zone": ""}, True),
        (Requirement("zone", "Exists"), {}, False),
        (Requirement("zone", "DoesNotExist"), {"zone": ""}, False),
        (Requirement("zone", "DoesNotExist"), {}, True),
        # An absent label is not the empty text.
        (Requirement("zone", "In", ("",)), {}, False),
        (Requirement("zone", "In", ("",)), {"zone": ""}, True),
    ],
)
def test_requirement_selects_as_kubernetes_does(
    row: Requirement, labels: dict[str, str], wanted: bool
) -> None:
    assert Selector(match_expressions=[row]).selects(labels) is wanted


def test_empty_selector_selects_everything() -> None:
    assert Selector().selects({})
    assert Selector().selects({"any": "label"})


def test_all_rows_must_hold() -> None:
    selector = Selector({"tier": "web"}, (Requirement("zone", "Exists"),))

    assert selector.selects({"tier": "web", "zone": "a"})
    assert not selector.selects({"tier": "web"})
    assert not selector.selects({"tier": "db", "zone": "a"})
