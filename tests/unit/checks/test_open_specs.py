"""An open `spec` is reported where the play sets names of its own."""

from __future__ import annotations

import pytest

from tests.unit.checks.workshop import CRD, WATCHES, Workshop, only

SPEC = "              required: [size]\n"
OPEN = "              x-kubernetes-preserve-unknown-fields: true\n"
TASKS = "roles/demo/tasks/main.yml"


def opened(workshop: Workshop, line: str = OPEN) -> None:
    workshop.replace(CRD, SPEC, SPEC + line)


def test_names_that_the_role_sets_are_listed_with_their_places(workshop: Workshop) -> None:
    workshop.write(TASKS, "- ping:\n  register: found\n- set_fact: {size: 1, target: x}\n")
    opened(workshop)
    (warning,) = workshop.check().problems
    assert warning.rule == "open-spec" and warning.file == CRD
    assert "`spec` of `Demo` takes keys that the CRD does not declare" in warning.what
    assert warning.details == (  # `size` is declared
        "`found`, set in demo/tasks/main.yml:2",
        "`target`, set in demo/tasks/main.yml:3",
    )
    workshop.replace(WATCHES, "  role: demo\n", "  role: demo\n  specOverridesRole: true\n")
    assert "are overridden" in only(workshop.warnings())


@pytest.mark.parametrize("line", ["", "              additionalProperties: false\n"])
def test_closed_spec_is_not_reported(workshop: Workshop, line: str) -> None:
    workshop.write(TASKS, "- ping:\n  register: found\n")
    opened(workshop, line)
    assert workshop.warnings() == []


def test_open_spec_of_a_role_that_sets_nothing_is_not_reported(workshop: Workshop) -> None:
    opened(workshop)
    assert workshop.warnings() == []
