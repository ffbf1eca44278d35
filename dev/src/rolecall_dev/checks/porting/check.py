"""What of a project would break between ansible-core 2.18 and 2.19, found without running anything."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rolecall.watches import Watch
from rolecall_dev.checks.crds import CrdVersion
from rolecall_dev.checks.porting.conditionals import check_conditionals
from rolecall_dev.checks.porting.settings import check_settings
from rolecall_dev.checks.porting.values import check_values, check_variables
from rolecall_dev.checks.porting.variables import Variables
from rolecall_dev.checks.spec_keys import cr_variable, variable_of
from rolecall_dev.sources import BLOCKS, KEYWORDS, Findings, Sources, Task, as_map

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
