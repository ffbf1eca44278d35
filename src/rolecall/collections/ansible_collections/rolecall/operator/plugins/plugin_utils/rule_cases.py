"""Tries rule tables of roles in states that are given, without a play: a program for `rolecall test --rules`.

It reads JSON from stdin: `{"project": folder, "roles": [{"path": folder, "cases": [case]}]}`, where a case is
`{"table": name, "vars": map, "facts": map, "facts_of": template, "is_all": bool}`, or has in place of `table` a
template, `value`. It prints for each role what its tables are and what each case came to.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play import Play
from ansible.plugins.loader import init_plugin_loader, lookup_loader
from ansible.template import Templar
from ansible.vars.manager import VariableManager
from jinja2 import Environment

_META = {"name": "sample", "namespace": "default"}
# Of an environment of Jinja: how a template is read.
_SYNTAX = (
    *("block_start_string", "block_end_string", "variable_start_string", "variable_end_string"),
    *("comment_start_string", "comment_end_string", "line_statement_prefix", "line_comment_prefix"),
    *("trim_blocks", "lstrip_blocks", "keep_trailing_newline", "newline_sequence", "overlayed"),
)


def main() -> None:
    """Answer what stdin asks."""
    init_plugin_loader([])
    asked = json.load(sys.stdin)
    # What plugins print must not get between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    json.dump([_tried(asked["project"], role) for role in asked["roles"]], answers)


def _tried(project: str, role: Mapping[str, Any]) -> dict[str, Any]:
    try:
        variables = _variables_of(project, role["path"])
    except Exception as error:  # the role's author reads it, whatever it is
        return {"error": str(error), "tables": {}, "cases": []}
    return {
        "error": "",
        "tables": {name: list(_shown(variables.get(name))) for name in _tables(role)},
        "cases": list(_outcomes(project, role, variables)),
    }


def _variables_of(project: str, role: str) -> dict[str, Any]:
    """The role's variables as a play of it has them; this also finds its plugins."""
    loader = DataLoader()
    loader.set_basedir(project)
    manager = VariableManager(loader=loader, inventory=InventoryManager(loader, ["localhost,"]))
    data = {"hosts": "localhost", "gather_facts": False, "roles": [role]}
    (found,) = Play.load(data, variable_manager=manager, loader=loader).roles
    return {
        "ansible_operator_meta": dict(_META),
        "inventory_hostname": "localhost",
        **found.get_default_vars(),
        **found.get_vars(),
        "role_name": os.path.basename(role),
        "role_path": role,
    }


def _tables(role: Mapping[str, Any]) -> set[str]:
    return {case["table"] for case in role["cases"] if case["table"]}


def _shown(table: Any) -> Iterator[str]:
    """Each rule by what identifies it: its reason, or else its first key."""
    for rule in table if isinstance(table, list) else []:
        keys = [key for key in rule if key != "when"] if isinstance(rule, Mapping) else []
        key = "reason" if "reason" in keys else next(iter(keys), "")
        yield f"{key}: {rule[key]}" if key else ""


def _outcomes(
    project: str, role: Mapping[str, Any], variables: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    loader = DataLoader()
    loader.set_basedir(project)
    known = {**variables, "ansible_search_path": [role["path"], project]}
    templar = _OnceTemplar(loader=loader, variables=known)
    with _templates_kept():
        for case in role["cases"]:
            yield _outcome(templar, known, case)


def _outcome(templar: Any, known: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, Any]:
    # Only now, as the collection loader is there.
    from ansible_collections.rolecall.operator.plugins.plugin_utils.rules import (  # noqa: PLC0415
        RuleTable,
    )
    from ansible_collections.rolecall.operator.plugins.plugin_utils.typed import (  # noqa: PLC0415
        Evaluator,
        trusted,
    )

    try:
        facts = dict(case["vars"])
        if case["facts_of"]:
            facts |= Evaluator(templar, known, facts).value(trusted(case["facts_of"]))
        facts |= case["facts"]
        if case["value"]:
            made = Evaluator(templar, known, facts).value(trusted(case["value"]))
        else:
            table = RuleTable(case["table"], templar, known, facts)
            made = table.all() if case["is_all"] else table.first()
        return {"error": "", "made": json.loads(json.dumps(made, default=str))}
    except Exception as error:  # the table's author reads it, whatever it is
        return {"error": str(error), "made": None}


class _OnceTemplar(Templar):
    """Renders each variable once for all rules of a state; Ansible renders it wherever it is named.

    With dictionaries as ansible-core itself has them from 2.19 on; where it has none, as Ansible does.
    """

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)
        self._given = named["variables"]
        self._once: dict[int, tuple[Any, Any]] = {}  # by which dictionary it is; that is kept, too

    @property
    def available_variables(self) -> Any:
        """As they were given."""
        return self._given

    @available_variables.setter
    def available_variables(self, variables: Any) -> None:
        self._given = variables
        if id(variables) not in self._once:
            self._once[id(variables)] = (variables, _rendered_once(self, variables))
        Templar.available_variables.fset(self, self._once[id(variables)][1])


def _rendered_once(templar: Any, variables: Any) -> Any:
    try:
        from ansible._internal._templating import (  # noqa: PLC0415 - not there before 2.19
            _engine,
            _lazy_containers,
        )

        options = _engine.TemplateOptions.DEFAULT
        with _engine.TemplateContext(
            template_value="", templar=templar._engine, options=options, stop_on_template=False
        ):
            lazy = _lazy_containers._AnsibleLazyTemplateMixin._try_create(variables)
        lazy._non_lazy_copy()
    except (AttributeError, ImportError, TypeError):
        return variables
    # The lookup of templates copies all variables to the last leaf, and only adds to them.
    of_templates = sys.modules[lookup_loader.get("template", class_only=True).__module__]
    of_templates.deepcopy = lambda known: getattr(known, "_non_lazy_copy", known.copy)()
    return lazy


@contextmanager
def _templates_kept() -> Iterator[None]:
    """Compile each text once, as all states of a role use the same texts and filters.

    Not those that have a backslash, which Ansible reads in two ways, and none where Jinja computes constants
    when it compiles, as it does before ansible-core 2.19: their code may hold an answer of that moment.
    """
    kept: dict[tuple[Any, ...], Any] = {}
    compile_text, compile_expression = Environment.compile, Environment.compile_expression

    def is_kept(environment: Any, text: Any) -> bool:
        return isinstance(text, str) and "\\" not in text and not environment.optimized

    def text_once(self: Any, source: Any, *args: Any, **named: Any) -> Any:
        if args or named or not is_kept(self, source):
            return compile_text(self, source, *args, **named)
        key = (str.__str__(source), type(self), *(getattr(self, name) for name in _SYNTAX))
        if key not in kept:
            kept[key] = compile_text(self, source)
        return kept[key]

    def expression_once(self: Any, source: Any, *args: Any) -> Any:
        if self.overlayed or not is_kept(self, source):
            return compile_expression(self, source, *args)
        key = (str.__str__(source), self, *args)
        if key not in kept:
            kept[key] = compile_expression(self, source, *args)
        return kept[key]

    Environment.compile, Environment.compile_expression = text_once, expression_once
    try:
        yield
    finally:
        Environment.compile, Environment.compile_expression = compile_text, compile_expression


if __name__ == "__main__":
    main()
