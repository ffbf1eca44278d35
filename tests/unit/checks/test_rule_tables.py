"""Rule tables are checked without a run: what the actions refuse, and rules that are never taken."""

from __future__ import annotations

import pytest

from tests.unit.checks.workshop import Workshop

RULES = "roles/demo/vars/main.yml"
TASKS = "roles/demo/tasks/main.yml"
REPORT = """\
- rolecall.operator.report:
    rules: _demo_rules
    facts: {pods: "{{ [1] }}"}
"""
GOOD = """\
_demo_rules:
  - when: pods == []
    ready: false
    reason: Starting
    message: "{{ pods | length }} pods"
  - {ready: true, reason: AllReady, message: "all {{ pods | length }}"}
"""


def _said(workshop: Workshop, rules: str, tasks: str = REPORT) -> list[str]:
    workshop.write(RULES, rules)
    workshop.write(TASKS, tasks)
    findings = workshop.check(for_variables=True)
    rules_of = ("rule-table", "undefined-variable")
    return [str(each) for each in findings.problems if each.rule in rules_of]


def test_table_that_is_in_order_has_no_findings(workshop: Workshop) -> None:
    assert _said(workshop, GOOD) == []


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("_other: []\n", "`rules` names `_demo_rules`, which no role of this project has"),
        ("_demo_rules: {when: a}\n", "must be a list of rules"),
        ("_demo_rules: [wrong]\n", "a rule must be a map"),
        (GOOD.replace("AllReady", "all ready"), "the reason `all ready` must be one word"),
        (
            GOOD.replace("ready: true,", "redness: true,"),
            "`report` does not take `redness` of a rule",
        ),
        (
            GOOD.replace("  - {ready", "  - {when: pods, ready"),
            "where no rule of `_demo_rules` holds",
        ),
        (GOOD + '  - {when: "pods == [1]", reason: Late}\n', "never taken, since rule 2"),
        (
            GOOD.replace("  - {ready", '  - {when: "pods == []", reason: Again}\n  - {ready'),
            "never taken, since rule 1",
        ),
        (GOOD.replace("when: pods", "when: pots"), "nothing defines the variable `pots`"),
        (GOOD.replace("all {{ pods", "all {{ pots"), "nothing defines the variable `pots`"),
    ],
)
def test_fault_of_a_table_is_found_at_its_place(workshop: Workshop, rules: str, said: str) -> None:
    found = _said(workshop, rules)
    assert any(said in each for each in found), found
    assert all(each.startswith((RULES, TASKS)) for each in found)


def test_refusals_are_all_reported_so_none_hides_another(workshop: Workshop) -> None:
    rows = ", ".join(f"{{when: 1 == 1, reason: {name}, message: a}}" for name in ("A", "B"))
    rules = f"_demo_rules: [{rows}]\n"
    assert _said(workshop, rules, "- rolecall.operator.refuse: {rules: _demo_rules}\n") == []


@pytest.mark.parametrize(
    "facts",
    ['"{{ _demo_facts }}"', "\"{{ {'pods': []} }}\"", '"{{ dict(pods=[]) }}"'],
    ids=["variable", "map", "call"],
)
def test_names_of_facts_are_known_however_they_are_given(workshop: Workshop, facts: str) -> None:
    tasks = f"- rolecall.operator.report: {{rules: _demo_rules, facts: {facts}}}\n"
    assert _said(workshop, GOOD + "_demo_facts: {pods: []}\n", tasks) == []
