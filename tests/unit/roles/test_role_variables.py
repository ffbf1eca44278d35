"""Each variable of a role has one definition.

Ansible merges the files of `vars/main` without a warning, the last one wins, and what a task sets
replaces both. So a variable that is defined twice silently loses one of its meanings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.roles.filters import ROLES

_ROLES = sorted(path.name for path in ROLES.iterdir() if (path / "vars").is_dir())


def twice_defined(role: Path) -> set[str]:
    """Variables that more than one file of `vars` and `defaults`, or one file twice, defines."""
    names = Counter(name for name, _ in _variables(role))
    return {name for name, count in names.items() if count > 1}


def replaced_by_tasks(role: Path) -> set[str]:
    """Expressions of `vars` that a task replaces; a constant there is the value until it is set."""
    expressions = {name for name, value in _variables(role) if _is_expression(value)}
    return expressions & {name for file in _files(role / "tasks") for name in _set_in(_load(file))}


@pytest.mark.parametrize("role", _ROLES)
def test_variable_of_a_role_is_defined_once(role: str) -> None:
    assert twice_defined(ROLES / role) == set()


@pytest.mark.parametrize("role", _ROLES)
def test_task_does_not_replace_an_expression_of_the_vars(role: str) -> None:
    assert replaced_by_tasks(ROLES / role) == set()


def test_second_definition_is_found_in_each_place(tmp_path: Path) -> None:
    _write(tmp_path / "vars/main/a.yml", "once: 1\nfiles: 1\nfile: 1\nfile: 2\n")
    _write(tmp_path / "vars/main/b.yml", "files: 2\ndefault: 1\n")
    _write(tmp_path / "defaults/main.yml", "default: 2\n")
    assert twice_defined(tmp_path) == {"files", "file", "default"}


def test_replaced_expression_is_found_below_a_block(tmp_path: Path) -> None:
    texts = ["fact", "result", "kept"]
    variables = [
        *(f"{name}: '{{{{ x }}}}'" for name in texts),
        "nested: {a: ['{{ x }}']}",
        "start: 0",
    ]
    _write(tmp_path / "vars/main.yml", "\n".join(variables))
    tasks = [
        {"block": [{"ansible.builtin.set_fact": {"fact": 1, "start": 1, "other": 1}}]},
        {"block": [], "always": [{"ansible.builtin.debug": {}, "register": "result"}]},
        {"set_fact": {"nested": 1, "cacheable": True}},
        {"ansible.builtin.debug": {}, "vars": {"kept": 1}},
    ]
    _write(tmp_path / "tasks/deep/main.yml", yaml.safe_dump(tasks))
    assert replaced_by_tasks(tmp_path) == {"fact", "result", "nested"}


def _files(folder: Path) -> list[Path]:
    return sorted(file for end in ("yml", "yaml") for file in folder.rglob(f"*.{end}"))


def _load(file: Path) -> Any:
    return yaml.safe_load(file.read_text())


def _variables(role: Path) -> Iterator[tuple[str, Any]]:
    """Each definition; a key that a file repeats comes once for each time."""
    for file in (file for folder in ("defaults", "vars") for file in _files(role / folder)):
        root, values = yaml.compose(file.read_text(), yaml.SafeLoader), _load(file)
        if isinstance(root, yaml.MappingNode):
            yield from ((key.value, values[key.value]) for key, _ in root.value)


def _is_expression(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_is_expression, value.values()))
    if isinstance(value, list):
        return any(map(_is_expression, value))
    return "{{" in str(value)


def _set_in(tasks: Any) -> Iterator[str]:
    """Names that `set_fact` and `register` of these tasks set, with those below blocks."""
    for task in tasks or []:
        for module in ("ansible.builtin.set_fact", "set_fact"):
            yield from task.get(module, {})
        if "register" in task:
            yield task["register"]
        for part in ("block", "rescue", "always"):
            yield from _set_in(task.get(part))


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
