"""What `validate` and `mutate` say reaches the API server, each key in its field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.watches import Play, Watch
from rolecall.webhooks import Admission, AdmissionKeys, registration_of, webhooks_of

_LABELS = {"matchLabels": {"tier": "web"}}
_CONDITION = {"name": "always", "expression": "request.dryRun"}


def registered(name: str, **keys: Any) -> Json:
    play = Play(Path("roles/demo"), is_role=True)
    gvk = Gvk("demo.example.com", "v1", "Demo")
    asked: dict[str, Any] = {name: Admission(play, **keys)}
    watch = Watch(gvk, play, of_extensions=(AdmissionKeys(**asked),))
    (webhook,) = webhooks_of([watch])
    return registration_of(webhook, "demos", {"url": "https://here"}, "")


@pytest.mark.parametrize("name", ["validate", "mutate"])
@pytest.mark.parametrize(
    ("keys", "changes"),
    [
        ({"object_selector": _LABELS}, {"objectSelector": _LABELS}),
        ({"namespace_selector": _LABELS}, {"namespaceSelector": _LABELS}),
        ({"match_conditions": (_CONDITION,)}, {"matchConditions": [_CONDITION]}),
        ({"failure_policy": "Ignore"}, {"failurePolicy": "Ignore"}),
        ({"timeout_s": 7}, {"timeoutSeconds": 7}),
        ({"operations": ("UPDATE",)}, {"operations": ["UPDATE"]}),
        ({"subresources": ("scale",)}, {"resources": ["demos", "demos/scale"]}),
    ],
)
def test_key_of_admission_changes_its_field_of_the_registration_and_no_other(
    name: str, keys: dict[str, Any], changes: dict[str, Any]
) -> None:
    before, after = flat(registered(name)), flat(registered(name, **keys))
    assert {key: after[key] for key in after if after[key] != before.get(key)} == changes


def flat(registration: Json) -> Json:
    """With the fields of its one rule beside its own."""
    (rule,) = registration["rules"]
    return {**{key: value for key, value in registration.items() if key != "rules"}, **rule}
