"""Variables that nothing defines are found whatever else an expression uses."""

from __future__ import annotations

import pytest
from ansible.plugins.filter.core import FilterModule
from ansible.plugins.filter.mathstuff import FilterModule as MathFilters
from ansible.plugins.test.core import TestModule as CoreTests

from rolecall_dev.sources import Findings
from tests.unit.checks.workshop import Workshop, only

RULE = "undefined-variable"
# Without those that ask whether a variable is there at all.
FILTERS = sorted({*FilterModule().filters(), *MathFilters().filters()} - {"default", "d"})
TESTS = sorted(CoreTests().tests().keys() - {"defined", "undefined"})
OF_COLLECTIONS = ("ansible.builtin.to_json", "kubernetes.core.k8s_config_resource_name", "a.b.c")
TEMPLATE = "roles/demo/templates/each.j2"
TASKS = "roles/demo/tasks/main.yml"


def found_in(workshop: Workshop) -> Findings:
    return workshop.check(for_variables=True)


def reported(findings: Findings) -> list[str]:
    return [str(each) for each in findings.problems if each.rule == RULE]


@pytest.mark.parametrize("form", ["{{{{ {name} | {used} }}}}", "{{{{ [1] | {used}({name}) }}}}"])
def test_no_filter_of_ansible_or_a_collection_hides_a_variable(
    workshop: Workshop, form: str
) -> None:
    names = [*FILTERS, *OF_COLLECTIONS]
    lines = [form.format(name=f"unheard_{at}_x", used=used) for at, used in enumerate(names)]
    workshop.write(TEMPLATE, "\n".join(lines) + "\n")
    workshop.write(TASKS, "- debug: {msg: x}\n")
    said = reported(found_in(workshop))
    hidden = [
        name for at, name in enumerate(names) if not any(f"`unheard_{at}_x`" in it for it in said)
    ]
    assert hidden == []


def test_no_test_of_ansible_hides_a_variable(workshop: Workshop) -> None:
    names = [*TESTS, "acme.things.big"]
    lines = [f"{{{{ unheard_{at}_x is {name} }}}}" for at, name in enumerate(names)]
    workshop.write(TEMPLATE, "\n".join(lines) + "\n")
    workshop.write(TASKS, "- debug: {msg: x}\n  when: other_x is match('a') and size | bool\n")
    said = reported(found_in(workshop))
    assert [
        name for at, name in enumerate(names) if not any(f"`unheard_{at}_x`" in it for it in said)
    ] == []
    assert any("`other_x`" in it for it in said)


@pytest.mark.parametrize(
    "task",
    [
        "acme.unknown.bucket: {name: x}",
        "include_role: {name: acme.unknown.thing}",
    ],
)
def test_missing_collection_leaves_the_search_on_as_warnings(workshop: Workshop, task: str) -> None:
    workshop.write(TASKS, f'- {task}\n- debug: {{msg: "{{{{ imagename | to_json }}}}"}}\n')
    found = found_in(workshop)
    said = only(reported(found))
    assert "nothing that is installed here defines the variable `imagename`" in said
    assert "`acme.unknown" in said and "did you mean" in said
    assert not found.errors
    assert not any("were not looked for" in note for note in found.notes)


@pytest.mark.parametrize("is_strict", [False, True])
def test_missing_collection_is_a_problem_where_check_is_strict(
    workshop: Workshop, is_strict: bool
) -> None:
    workshop.write(TASKS, "- acme.unknown.bucket: {name: x}\n")
    found = workshop.check(is_strict=is_strict)
    named = [str(each) for each in found.problems if "collection `acme.unknown`" in str(each)]
    noted = [note for note in found.notes if "collection `acme.unknown`" in note]
    assert (len(named), len(noted)) == ((1, 0) if is_strict else (0, 1))
    assert found.errors == []
