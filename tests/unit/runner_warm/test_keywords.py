"""Keywords of tasks, copied and checked our way and Ansible's: the results are the same."""

from __future__ import annotations

import importlib
import json
from typing import Any

import ansible.template
import pytest
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.base import FieldAttributeBase
from ansible.playbook.block import Block
from ansible.playbook.play import Play
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.utils.sentinel import Sentinel

from rolecall_warm.hooks.keywords import Keywords

OURS = Keywords(Sentinel)
VALUES = {"n": 3, "yes": True, "who": "me"}
TASKS: dict[str, dict[str, Any]] = {
    "bare": {},
    "plain": {"ignore_errors": True, "retries": 2, "delay": 1, "tags": ["a", "b"]},
    "templates": {"ignore_errors": "{{ yes }}", "retries": "{{ n }}", "become_user": "{{ who }}"},
    "texts that are numbers": {"retries": "4", "async": "10", "poll": "0", "run_once": "yes"},
    "later": {"when": "n == 3", "loop": [1, 2], "until": "yes", "failed_when": "n is defined"},
    "holders": {
        "environment": {"A": "{{ who }}"},
        "vars": {"b": "{{ n }}"},
        "args": {"x": "{{ n }}"},
    },
    "omitted": {"become": "{{ omit }}", "delegate_to": "localhost", "register": "found"},
}
WRONG: dict[str, dict[str, Any]] = {
    "no number": {"retries": "many"},
    "undefined": {"ignore_errors": "{{ missing }}"},
    "no truth": {"run_once": "perhaps"},
}


@pytest.fixture(params=TASKS)
def keywords(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Those of one task."""
    return TASKS[request.param]


def made(keywords: dict[str, Any]) -> Task:
    """A task in a block in a play."""
    loader = DataLoader()
    play = Play.load({"hosts": "all", "remote_user": "someone", "become": True}, loader=loader)
    block = Block.load({"block": [], "any_errors_fatal": True}, play=play, loader=loader)
    text = json.dumps({"name": "it is {{ who }}", "debug": {"msg": "{{ n }}"}, **keywords})
    # Before 2.19, every text may be a template.
    trust = getattr(ansible.template, "trust_as_template", str)
    return Task.load(loader.load(trust(text)), block=block, loader=loader)


def held(thing: Any) -> dict[str, Any]:
    """All that it holds, but for its parents."""
    return {
        name: (type(value), "" if isinstance(value, FieldAttributeBase) else repr(value))
        for name, value in vars(thing).items()
        if name not in ("_parent", "_loader", "_uuid")
    }


def templar() -> Any:
    """As the executor has it."""
    engine = importlib.import_module("ansible._internal._templating._engine")
    return engine.TemplateEngine(loader=DataLoader(), variables=VALUES)


class TestCopies:
    """`copy`, as often as a task runs."""

    def test_copy_holds_what_ansibles_copy_holds(self, keywords: dict[str, Any]) -> None:
        task = made(keywords)
        for thing in (task, task._parent, PlayContext(play=None)):
            ours = OURS.copy(FieldAttributeBase.copy, thing)
            theirs = FieldAttributeBase.copy(thing)
            assert held(ours) == held(theirs)
            assert list(held(ours)) == list(held(theirs))

    def test_change_of_a_copy_is_not_seen_in_the_task(self) -> None:
        task = made(TASKS["holders"])
        OURS.copy(FieldAttributeBase.copy, task).args["x"] = "changed"
        assert task.args["x"] == "{{ n }}"


# ansible-core 2.18 checks them in one loop, so nothing of ours stands there.
if hasattr(Task, "post_validate_attribute"):

    class TestChecks:
        """`post_validate`, before a task runs."""

        def test_keywords_come_to_what_ansible_makes_of_them(
            self, keywords: dict[str, Any]
        ) -> None:
            ours, theirs = made(keywords), made(keywords)
            for task in (ours, theirs):
                task.squash()
            FieldAttributeBase.post_validate(theirs._parent, templar())
            FieldAttributeBase.post_validate(theirs, templar())
            for thing in (ours._parent, ours):
                OURS.post_validate(FieldAttributeBase.post_validate, thing, templar())
            assert held(ours) == held(theirs)
            assert held(ours._parent) == held(theirs._parent)

        @pytest.mark.parametrize("keywords", list(WRONG.values()), ids=list(WRONG))
        def test_wrong_keyword_is_reported_in_ansibles_words(
            self, keywords: dict[str, Any]
        ) -> None:
            task = made(keywords)
            with pytest.raises(AnsibleError) as theirs:
                FieldAttributeBase.post_validate(task, templar())
            with pytest.raises(AnsibleError) as ours:
                OURS.post_validate(FieldAttributeBase.post_validate, made(keywords), templar())
            assert str(ours.value).splitlines()[0] == str(theirs.value).splitlines()[0]
