"""`rolecall test --rules`: states of rule tables are tried with the real Ansible."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

import pytest

from rolecall.clock import SystemClock
from rolecall.errors import InputError, ProblemsError
from rolecall_dev.cli.rule_tests import run_rule_tests
from rolecall_dev.rule_tests import read_cases
from rolecall_dev.sources import Findings

RULES = """\
---
_shelf_rules:
  - when: books | length > shelf_size | int
    reason: Overfull
    message: "{{ books | length }} of {{ shelf_size }}"
    ready: false
  - reason: Fits
    ready: true
_shelf_refusals:
  - when: shelf_size | int > 9
    reason: TooLarge
    message: no shelf has {{ shelf_size }} places
  - when: books == []
    reason: Empty
    message: a shelf has a book
_shelf_renders: "{{ 1 | shelf_renders }}"
_shelf_cost:
  - when: _shelf_renders > 99
  - when: _shelf_renders > 98
  - renders: "{{ _shelf_renders }}"
"""
PLUGIN = """\
class FilterModule:
    renders = 0

    def filters(self):
        return {"shelf_doubled": lambda value: value * 2, "shelf_renders": self.count}

    def count(self, value):
        FilterModule.renders += value
        return FilterModule.renders
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    role = folder / "roles/shelf"
    for name, text in {
        "tasks/main.yml": "[]\n",
        "defaults/main.yml": 'shelf_size: "{{ spec.size }}"\n',
        "vars/main.yml": RULES,
        "filter_plugins/shelf.py": PLUGIN,
        "templates/label.yaml.j2": "size: {{ shelf_size | int }}\nname: {{ role_name }}\n",
    }.items():
        (role / name).parent.mkdir(parents=True, exist_ok=True)
        (role / name).write_text(text)
    return folder


def _tried(project: Path, text: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    (project / "roles/shelf/rules_test.yml").write_text(text)
    code = run_rule_tests(project, [], SystemClock())
    return code, capsys.readouterr().out.splitlines()


GOOD = """\
- table: _shelf_rules
  vars: {spec: {size: 1}}
  facts: {books: []}
  cases:
    - name: few books fit
      expect: {reason: Fits, ready: true, message: null}
    - name: many books do not, and hostile text is no template
      facts: {books: [1, "{{ 1 / 0 }}"]}
      expect: {rule: 1, message: 2 of 1}
- table: _shelf_refusals
  cases:
    - name: all refusals are reported
      vars: {shelf_size: 10}
      facts: {books: []}
      expect: [{reason: TooLarge, message: no shelf has 10 places}, {reason: Empty}]
    - name: nothing is refused
      vars: {shelf_size: 1}
      facts: {books: [1]}
      expect: []
- value: "{{ lookup('ansible.builtin.template', 'label.yaml.j2') | from_yaml }}"
  vars: {spec: {size: 3}}
  cases:
    - name: template of the role
      expect: {size: 3, name: shelf, other: null}
- value: "{{ shelf_size | int | shelf_doubled }}"
  vars: {spec: {size: 3}}
  cases:
    - name: filter of the role
      expect: 6
"""


def test_tables_values_and_templates_are_as_expected(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = _tried(project, GOOD, capsys)
    assert code == 0
    assert len(lines) == 1
    assert lines[0].startswith("6 states of 1 roles in ")
    assert lines[0].endswith(": all as expected")


COST = """\
- table: _shelf_cost
  cases:
    - name: first state
      expect: {renders: 1}
    - name: second state
      expect: {renders: 2}
"""


@pytest.mark.skipif(
    version("ansible-core").startswith("2.18"), reason="renders a variable wherever it is named"
)
def test_variable_is_rendered_once_for_all_rules_of_a_state(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = _tried(project, COST, capsys)
    assert code == 0, lines


BAD = """\
- table: _shelf_rules
  vars: {spec: {size: 1}}
  cases:
    - name: another reason
      facts: {books: []}
      expect: {reason: Overfull, ready: 1}
    - name: no books
      expect: {reason: Fits}
- table: _no_rules
  cases:
    - name: no table
      expect: {reason: Fits}
"""


def test_unexpected_result_is_reported_with_its_line_and_rule(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = _tried(project, BAD, capsys)
    assert code == 1
    start = "roles/shelf/rules_test.yml:"
    assert lines[0] == (
        f"{start}4: case `another reason` of `_shelf_rules`: `reason` is `Fits`, expected `Overfull`"
        " (rule 2); `ready` is true, expected 1 (rule 2)"
    )
    assert lines[1].startswith(f"{start}7: case `no books` of `_shelf_rules`: rule 1 of")
    assert "'books' is undefined" in lines[1]
    assert "`_no_rules` is none" in lines[2]
    assert "no case takes rule 1 of `_shelf_rules` (reason: Overfull); add one" in lines[3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\n", "must be a list of maps, each with `table` and `cases`"),
        ("- table: x\n", "has no `cases`"),
        ("- table: x\n  cases: []\n", "`cases` must be a list with a case or more"),
        ("- {table: x, value: y, cases: [1]}\n", "must have either `table` or `value`"),
        ("- {table: x, cases: [{name: a}]}\n", "has no `expect`"),
        ("- {table: x, cases: [{name: a, expect: 1}]}\n", "`expect` must be a map, or a list"),
        ("- {table: x, cases: [{name: a, expect: {}, fact: 1}]}\n", "the key `fact` is unknown"),
        ("- table: x\n  cases: &c [{name: a, expect: {}}, {name: a, expect: {}}]\n", "two cases"),
        ("- [\n", "is not valid YAML"),
    ],
)
def test_file_that_is_no_list_of_cases_is_refused(
    project: Path, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "rules_test.yml").write_text(text)
    findings = Findings()
    read_cases(tmp_path, tmp_path, findings)
    assert any(said in problem.what for problem in findings.problems)
    (project / "roles/shelf/rules_test.yml").write_text(text)
    with pytest.raises(ProblemsError):
        run_rule_tests(project, [], SystemClock())


def test_role_without_cases_is_named(project: Path) -> None:
    with pytest.raises(InputError, match=r"there is no roles/attic/rules_test\.yml"):
        run_rule_tests(project, ["attic"], SystemClock())


def test_project_without_cases_says_where_they_go(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no role of this folder has a rules_test\.yml"):
        run_rule_tests(tmp_path, [], SystemClock())


def test_environment_reaches_ansible_unchanged(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What plugins and callbacks print never gets between the answers."""
    monkeypatch.setitem(os.environ, "ANSIBLE_STDOUT_CALLBACK", "json")
    code, _ = _tried(project, GOOD, capsys)
    assert code == 0
