"""What of a project would break between ansible-core 2.18 and 2.19, found without running anything."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rolecall.runner import cr_variable
from rolecall.watches import Watch
from rolecall_dev.checks.crds import CrdVersion
from rolecall_dev.checks.porting.conditionals import check_conditionals
from rolecall_dev.checks.porting.values import check_values, check_variables
from rolecall_dev.checks.porting.variables import Variables
from rolecall_dev.checks.spec_keys import variable_of
from rolecall_dev.sources import BLOCKS, KEYWORDS, Findings, Sources, Task, as_map, shown

_ASSIGNMENT = re.compile(r"(\w+)=")


def check_porting(sources: Sources, variables: Variables, cwd: Path, findings: Findings) -> None:
    """Look at each task and variable once."""
    for document in sources.variables:
        check_variables(document, (), document.data, findings)
    for task in sources.tasks:
        check_conditionals(task, variables, findings)
        check_values(task, variables, findings)
        check_variables(task.document, (*task.path, "vars"), task.data.get("vars"), findings)
        if task.short == "set_fact":
            path = (*task.path, task.module)
            check_variables(task.document, path, task.arguments, findings)
    check_settings(cwd, findings)


def variables_of(sources: Sources, versions: Sequence[tuple[Watch, CrdVersion]]) -> Variables:
    """Every place that gives a variable a value."""
    variables = Variables()
    for watch, version in versions:
        _assign_cr(watch, version, variables)
    for document in sources.variables:
        variables.assign_all(document.data)
    for task in sources.tasks:
        _assign_of(task, variables)
    return variables


def _assign_cr(watch: Watch, version: CrdVersion, variables: Variables) -> None:
    spec = version.schema("spec")
    for key, schema in as_map(spec.get("properties")).items():
        variables.schema(variable_of(watch, key), schema, lambda name: variable_of(watch, name))
    variables.schema(f"{cr_variable(watch.gvk)}_spec", spec, str)
    variables.assign_all(dict(watch.vars))
    if watch.finalizer is not None:
        variables.assign_all(dict(watch.finalizer.vars))


def _assign_of(task: Task, variables: Variables) -> None:
    """What a task, block, play or role makes known."""
    variables.assign_all(task.data.get("vars"))
    if task.short == "set_fact":
        _assign_facts(task, variables)
    if "role" in task.data:
        known = {*KEYWORDS, *BLOCKS, "role"}
        variables.assign_all({key: it for key, it in task.data.items() if key not in known})
    if "register" in task.data:
        variables.result(task.data["register"], task.module, is_loop=task.has_loop)
    control = as_map(task.data.get("loop_control"))
    variables.unknown(control.get("loop_var"))
    variables.unknown(control.get("index_var"))


def _assign_facts(task: Task, variables: Variables) -> None:
    if isinstance(task.arguments, dict):
        variables.assign_all(task.arguments)
    elif isinstance(task.arguments, str):
        for name in _ASSIGNMENT.findall(task.arguments):
            variables.unknown(name)


# Settings of Ansible that mean nothing any more from 2.19 on.

_FILES = ("ansible.cfg", "Dockerfile", "config/manager/*.yaml", "config/default/*.yaml")
_NATIVE = re.compile(r"^[^#;]*\b(?:jinja2_native\s*=|ANSIBLE_JINJA2_NATIVE\b)")
_EXTENSIONS = re.compile(r"^[^#;]*\b(?:jinja2_extensions\s*=|ANSIBLE_JINJA2_EXTENSIONS\b)")


def check_settings(cwd: Path, findings: Findings) -> None:
    """Report each line that sets one of them."""
    for path in sorted(path for pattern in _FILES for path in cwd.glob(pattern) if path.is_file()):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        for number, line in enumerate(lines, start=1):
            _check_line(shown(path, cwd), number, line, findings)


def _check_line(file: str, number: int, line: str, findings: Findings) -> None:
    if _NATIVE.match(line):
        what = "`jinja2_native` has no effect from ansible-core 2.19 on: every template is native"
        findings.warn(file, number, what, hint="remove it once 2.18 is no longer used")
    if _EXTENSIONS.match(line):
        what = "`jinja2_extensions` will be gone in ansible-core 2.23"
        findings.warn(file, number, what, hint="write filters instead of `{% do %}`")
