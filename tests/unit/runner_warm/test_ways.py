"""Every rule is a reason not to be faster; with none of them, a task is as fast as it can be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rolecall_warm.hooks.ways import (
    ActionFacts,
    ModuleFacts,
    Way,
    choose_action,
    choose_module,
)

_ACTION = ActionFacts(
    action="set_fact",
    collection="ansible.builtin",
    is_genuine=True,
    is_alone=True,
    is_async=False,
    is_become=False,
    is_local=True,
    is_builtin_strategy=True,
    has_debugger=False,
    asks_play=False,
)
_MODULE = ModuleFacts(
    name="kubernetes.core.k8s",
    is_new_python=True,
    can_respawn=False,
    is_async=False,
    is_become=False,
    is_local=True,
    has_timeout=False,
    is_verbose=False,
    is_kept=False,
    has_extension=False,
    has_limit=False,
    has_module_utils=False,
    is_our_python=True,
    changes_python=False,
)


@pytest.mark.parametrize(
    ("change", "way"),
    [
        ({}, Way.INLINE),
        ({"is_become": True, "is_local": False}, Way.INLINE),  # it only computes
        ({"is_alone": False}, Way.STOCK),
        ({"is_async": True}, Way.STOCK),
        ({"is_genuine": False}, Way.STOCK),
        ({"is_builtin_strategy": False}, Way.STOCK),
        ({"has_debugger": True}, Way.STOCK),
        ({"asks_play": True}, Way.STOCK),
        ({"collection": "some.body"}, Way.STOCK),
        ({"action": "pause"}, Way.STOCK),
        ({"action": "normal"}, Way.INLINE),
        ({"action": "normal", "is_become": True}, Way.STOCK),
        ({"action": "normal", "is_local": False}, Way.STOCK),
        ({"action": "k8s", "collection": "kubernetes.core"}, Way.INLINE),
        ({"action": "k8s", "collection": "kubernetes.core", "is_become": True}, Way.STOCK),
    ],
)
def test_action_runs_inline_only_where_nothing_speaks_against_it(
    change: dict[str, object], way: Way
) -> None:
    choice = choose_action(replace(_ACTION, **change))  # type: ignore[arg-type]
    assert choice.way is way
    assert choice.reason


@pytest.mark.parametrize(
    ("change", "way"),
    [
        ({}, Way.IN_PROCESS),
        ({"name": "ansible.builtin.command"}, Way.FORKED),
        ({"name": ""}, Way.FORKED),
        ({"is_new_python": False}, Way.STOCK),
        ({"is_async": True}, Way.STOCK),
        ({"is_become": True}, Way.STOCK),
        ({"is_local": False}, Way.STOCK),
        ({"is_our_python": False}, Way.STOCK),
        ({"changes_python": True}, Way.STOCK),
        ({"has_timeout": True}, Way.STOCK),
        ({"is_verbose": True}, Way.STOCK),
        ({"is_kept": True}, Way.STOCK),
        ({"has_extension": True}, Way.STOCK),
        ({"has_limit": True}, Way.STOCK),
        ({"has_module_utils": True}, Way.STOCK),
        ({"can_respawn": True}, Way.STOCK),
    ],
)
def test_module_is_fast_only_where_nothing_speaks_against_it(
    change: dict[str, object], way: Way
) -> None:
    choice = choose_module(replace(_MODULE, **change))  # type: ignore[arg-type]
    assert choice.way is way
    assert choice.reason
