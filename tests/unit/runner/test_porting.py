"""What Ansible prints and says of roles for 2.18, in its own words, and the way out."""

from __future__ import annotations

import pytest

from rolecall.runner.porting import broken_conditionals, way_out_of
from tests.unit.runner.cases import Reported

OLD = (
    "\x1b[0;35m[DEPRECATION WARNING]: Conditional result at location \x1b[0m\r\n"
    "\x1b[0;35m/opt/ansible/roles/app/tasks/a-file-with-a-name-that-is-longer-than-the-termina\x1b[0m"
    "\r\n\x1b[0;35ml.yml 6:13 was of type 'AnsibleUnicode'. Conditional results should only be Tr"
    "\x1b[0m\r\n\x1b[0;35mue or False.\x1b[0m"
)
NEW = (
    "\x1b[0;35m[DEPRECATION WARNING]: Conditional result (True) was derived from value of type 'int'"
    " at '/opt/ansible/roles/app/defaults/main.yml:3:13'. Conditionals must have a boolean result."
    " This feature will be removed in the future.\x1b[0m\r\n"
    "\x1b[0;35mOrigin: /opt/ansible/roles/app/tasks/main.yml:8:13\x1b[0m\r\n\x1b[0;32mok: [localhost]"
)


def test_warning_of_2_18_is_read_although_it_is_folded_in_the_middle_of_a_path() -> None:
    (found,) = broken_conditionals(OLD)

    path = "/opt/ansible/roles/app/tasks/a-file-with-a-name-that-is-longer-than-the-terminal.yml"
    assert (found.file, found.line, found.type) == (path, 6, "str")


def test_warning_of_2_19_names_the_condition_and_not_where_its_value_is_from() -> None:
    (found,) = broken_conditionals(NEW)

    assert (found.file, found.line) == ("/opt/ansible/roles/app/tasks/main.yml", 8)
    assert (found.type, "is truthy" in found.way_out) == ("int", True)


@pytest.mark.parametrize("stdout", ["", "ok: [localhost]", "Conditional result", "[WARNING]: x"])
def test_other_output_reports_no_condition(stdout: str) -> None:
    assert list(broken_conditionals(stdout)) == []


@pytest.mark.parametrize(
    ("message", "way_out"),
    [
        (
            "Task failed: Conditional result (True) was derived from value of type 'str' at"
            " '/opt/x.yml:14:11'. Conditionals must have a boolean result.",
            "is truthy",
        ),
        ("Task failed: Empty conditional expressions are not allowed.", "`true`"),
        ("Task failed: Conditional expressions must be strings.", "quotes"),
        (
            "Task failed: Syntax error in expression. Template delimiters are not supported in"
            " expressions: expected token ':', got '}'",
            "without braces",
        ),
        ("Task failed: Encountered untrusted template or expression.", "without braces"),
        ("The `loop` value must resolve to a 'list', not 'str'.", "one expression"),
        ("Error rendering template: Type 'range' is unsupported for variable storage.", "| list"),
        ("Error rendering: Type 'Undefined' is unsupported for variable storage.", "`else`"),
        ('can only concatenate str (not "_AnsibleTaggedInt") to str', "| string"),
        ("object of type 'NoneType' has no len()", "| string"),
        (
            "Failed to create object: json: cannot unmarshal number into Go struct field"
            " EnvVar.spec.template.spec.containers.env.value of type string",
            "| string",
        ),
    ],
)
def test_failure_of_a_role_for_2_18_reports_what_to_write(message: str, way_out: str) -> None:
    reported = Reported().failed("apply", message).stats(failures=1)

    (failure,) = reported.result(2).failures

    assert failure.message == message
    assert way_out in failure.detail


def test_other_failures_get_no_advice() -> None:
    reported = Reported().failed("apply", "no such class").stats(failures=1)

    assert reported.result(2).failures[0].detail == ""


def test_other_messages_have_no_way_out() -> None:
    assert way_out_of("x") == ""
