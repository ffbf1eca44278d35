"""One more item, and every other byte as it was."""

from __future__ import annotations

import pytest
import yaml

from rolecall.errors import InputError
from rolecall_dev.scaffold.yaml_lists import ListItem, with_item

WATCH = ListItem("watches.yaml", "watch", "- kind: B\n  role: b\n")
RULE = ListItem("role.yaml", "rules", "# why\n- verbs: [get]\n", key="rules")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "---\n- kind: B\n  role: b\n"),
        ("---\n# +kubebuilder:scaffold:watch\n", None),
        ("- kind: A\n", "- kind: A\n- kind: B\n  role: b\n"),
        ("  - kind: A\n", "  - kind: A\n  - kind: B\n    role: b\n"),
        ("- kind: A\n  # last words\n\n# the end\n", None),
        ("#+kubebuilder:scaffold:watch\n- kind: A\n", None),
        ("[]\n", "- kind: B\n  role: b\n"),
        ("---\n[]\n", "---\n- kind: B\n  role: b\n"),
        ("- kind: A\n  vars:\n    text: |\n      - no item\n", None),
        ("- kind: A", "- kind: A\n- kind: B\n  role: b\n"),
    ],
)
def test_item_joins_the_list(before: str, after: str | None) -> None:
    changed = with_item(before, WATCH)
    rest = iter(changed.splitlines())
    assert all(line in rest for line in before.splitlines() if line.strip("[]"))
    assert {"kind": "B", "role": "b"} in yaml.safe_load(changed)
    assert after is None or changed == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("kind: Role\n", "kind: Role\nrules:\n  # why\n  - verbs: [get]\n"),
        ("rules: []\nkind: Role\n", "rules:\n  # why\n  - verbs: [get]\nkind: Role\n"),
        ("rules:\n- verbs: [a]\n", "rules:\n- verbs: [a]\n# why\n- verbs: [get]\n"),
        (
            "rules:\n  - verbs: [a]  # a\n# +kubebuilder:scaffold:rules\n",
            "rules:\n  - verbs: [a]  # a\n  # why\n  - verbs: [get]\n# +kubebuilder:scaffold:rules\n",
        ),
        ("rules:\n# +kubebuilder:scaffold:rules\n", None),
        ("rules:\n  - verbs: [a]\nkind: Role\n", None),
    ],
)
def test_item_joins_the_list_of_a_key(before: str, after: str | None) -> None:
    changed = with_item(before, RULE)
    assert {"verbs": ["get"]} in yaml.safe_load(changed)["rules"]
    assert after is None or changed == after


def test_item_that_is_there_is_not_added_again() -> None:
    once = with_item("", WATCH)
    assert with_item(once, WATCH) == once


@pytest.mark.parametrize("content", ["[{kind: A}]\n", "- a\n---\n- b\n", "a: b\n", "- [\n"])
def test_list_that_would_have_to_be_rewritten_is_refused(content: str) -> None:
    with pytest.raises(InputError, match=r"watches\.yaml"):
        with_item(content, WATCH)
