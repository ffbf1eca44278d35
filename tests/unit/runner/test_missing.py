"""A failure for something that is not installed says what to do, each time."""

from __future__ import annotations

import pytest

from tests.unit.runner.cases import Reported

ADD = "add `community.foo` to requirements.yml and install it, or build the operator's image anew"
MODULE = (
    "[ERROR]: couldn't resolve module/action 'community.foo.bar'. This often indicates a"
    " misspelling, missing collection, or incorrect module path.\n"
    "Origin: /project/roles/app/tasks/main.yml:4:5\n"
)
BUILTIN = MODULE.replace("community.foo.bar", "ansible.builtin.copyy")


def test_module_of_a_missing_collection_says_which_one_to_add() -> None:
    assert Reported().result(4, MODULE).reason_text == (
        "couldn't resolve module/action 'community.foo.bar'."
        f" (/project/roles/app/tasks/main.yml:4); {ADD}; where it is installed, check the spelling"
        " of `bar`"
    )


def test_misspelt_module_of_ansible_itself_is_not_blamed_on_a_collection() -> None:
    reason = Reported().result(4, BUILTIN).reason_text
    assert reason.endswith(
        "; ansible-core has no `copyy`: check its spelling (`ansible-doc --list`)"
    )


@pytest.mark.parametrize(
    ("message", "way_out"),
    [
        ("Syntax error in template: No filter named 'community.foo.bar'.", ADD),
        ("The lookup plugin 'community.foo.vault' was not found.", ADD),
        ("the role 'community.foo.setup' was not found in /a:/b", ADD),
        ("the role 'setup' was not found in /a:/b", "add the role as roles/setup, or list it"),
        (
            "Failed to import the required Python library (psycopg2) on host's Python /x.",
            "install the Python package `psycopg2` beside rolecall, or in the operator's image",
        ),
    ],
)
def test_task_that_misses_something_says_what_to_do(message: str, way_out: str) -> None:
    for _ in range(2):  # on each repetition
        (failure,) = Reported().failed("t", message).stats(failures=1).result(2).failures
        assert failure.message == message
        assert way_out in failure.detail


def test_include_of_a_missing_role_is_no_unknown_failure() -> None:
    reported = Reported().failed("t", res={"reason": "the role 'setup' was not found in /a:/b"})
    (failure,) = reported.stats(failures=1).result(2).failures
    assert failure.detail.startswith("the role 'setup' was not found in /a:/b; add the role")
    assert "roles/setup" in failure.detail


UNSUPPORTED = (
    "Unsupported parameters for (kubernetes.core.k8s) module: {names}. Supported parameters"
)
KNOWN = (
    " include: api_key, definition (inline, resource_definition), kind, namespace, wait_timeout."
)


@pytest.mark.parametrize(
    ("names", "way_out"),
    [
        ("definitionx", "did you mean `definition` for `definitionx`?"),
        ("resource_defintion", "did you mean `resource_definition` for `resource_defintion`?"),
        (
            "name_space, wait_timeot",
            "did you mean `namespace` for `name_space`, `wait_timeout` for `wait_timeot`?",
        ),
        ("zzz", ""),
    ],
)
def test_misspelt_argument_of_a_module_names_the_nearest(names: str, way_out: str) -> None:
    message = UNSUPPORTED.format(names=names) + KNOWN
    (failure,) = Reported().failed("t", message).stats(failures=1).result(2).failures
    assert failure.detail == way_out


def test_any_other_failure_gets_no_advice() -> None:
    (failure,) = Reported().failed("t", "no route to host").stats(failures=1).result(2).failures
    assert failure.detail == ""
