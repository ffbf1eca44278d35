"""What `handlers` in watches.yaml has the API server ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.errors import ProblemsError
from rolecall.extending import watch_keys
from rolecall.watches import WatchDefaults, load_watches
from rolecall.webhooks import Webhook, webhooks_of

FILE = """
import kopf

@kopf.on.validate("policies", operation="CREATE", ignore_failures=True)
def light(**_): ...

@kopf.on.validate("policies", operations=["DELETE"], subresource="scale", ignore_failures=True)
def kept(**_): ...

@kopf.on.mutate(kind="Policy")
def labelled(**_): ...

@kopf.on.validate("others")
def other(**_): ...

@kopf.timer("policies", interval=5)
def tick(**_): ...
"""
ENTRY = "- {group: example.com, version: v1, kind: Policy, handlers: policy.py%s}\n"


def webhooks(folder: Path, more: str = "") -> list[Webhook]:
    (folder / "policy.py").write_text(FILE)
    (folder / "watches.yaml").write_text(ENTRY % more)
    watches, _ = load_watches(folder / "watches.yaml", {}, WatchDefaults(), folder, watch_keys())
    return webhooks_of(watches)


def test_webhook_asks_for_what_all_handlers_of_its_verb_and_kind_want(tmp_path: Path) -> None:
    validate, mutate = webhooks(tmp_path)

    assert not validate.is_mutating
    assert (validate.group, validate.version, validate.kind) == ("example.com", "v1", "Policy")
    assert (validate.operations, validate.subresources) == (("CREATE", "DELETE"), ("scale",))
    assert validate.failure_policy == "Ignore"
    assert mutate.is_mutating
    assert mutate.operations == ("CREATE", "UPDATE")
    assert mutate.failure_policy == "Fail"


def test_play_and_handler_that_answer_the_same_question_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError) as refused:
        webhooks(tmp_path, ", validate: {role: judge}")

    assert "`validate` names a play, and handler `light` (policy.py:4) answers the same" in str(
        refused.value
    )


def test_rules_and_handlers_go_together(tmp_path: Path) -> None:
    more = ", validate: {rules: [{rule: self.size < 9, message: too large}]}"

    assert len(webhooks(tmp_path, more)) == 2
