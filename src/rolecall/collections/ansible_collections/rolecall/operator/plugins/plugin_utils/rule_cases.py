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
from typing import Any

from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play import Play
from ansible.plugins.loader import init_plugin_loader
from ansible.template import Templar
from ansible.vars.manager import VariableManager

_META = {"name": "sample", "namespace": "default"}


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
        "cases": [_outcome(project, role["path"], variables, case) for case in role["cases"]],
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
    """Each rule by what tells it from others: its reason, or else its first key."""
    for rule in table if isinstance(table, list) else []:
        keys = [key for key in rule if key != "when"] if isinstance(rule, Mapping) else []
        key = "reason" if "reason" in keys else next(iter(keys), "")
        yield f"{key}: {rule[key]}" if key else ""


def _outcome(
    project: str, role: str, variables: Mapping[str, Any], case: Mapping[str, Any]
) -> dict[str, Any]:
    # Only now, as the collection loader is there.
    from ansible_collections.rolecall.operator.plugins.plugin_utils.rules import (  # noqa: PLC0415
        RuleTable,
    )
    from ansible_collections.rolecall.operator.plugins.plugin_utils.typed import (  # noqa: PLC0415
        Evaluator,
        trusted,
    )

    loader = DataLoader()
    loader.set_basedir(project)
    known = {**variables, "ansible_search_path": [role, project]}
    templar = Templar(loader=loader, variables=known)
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


if __name__ == "__main__":
    main()
