"""Ways in which a play can act, each leaving a mark of its own: a file, or an object.

A role of them runs as a whole: each task ignores its errors. That they do act is shown by a run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.apiserver.plan.harness import PlanBench, config_map, k8s
from tests.play.warm.runs import Tasks, write

_MODULE = """#!/usr/bin/python
from ansible.module_utils.basic import AnsibleModule
def main():
    module = AnsibleModule({"path": {"type": "str"}}, supports_check_mode=True)
    open(module.params["path"], "w").close()
    module.exit_json(changed=False)
if __name__ == "__main__":
    main()
"""
_ACTION = """from ansible.plugins.action import ActionBase
class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        open(self._task.args["path"], "w").close()
        return {"changed": False}
"""
_LOOKUP = """from ansible.plugins.lookup import LookupBase
class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        open(terms[0], "w").close()
        return terms
"""
_CONNECTION = """
DOCUMENTATION = '''
name: other
short_description: other
description: other
'''
from ansible.plugins.connection.local import Connection as Local
class Connection(Local):
    transport = "other"
"""
_CALLBACK = """from ansible.plugins.callback import CallbackBase
class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_NAME = "acting"
    def v2_playbook_on_start(self, playbook):
        open({path!r}, "w").close()
"""
# Needs what a machine of tests has not; that it is not run is shown, and no more.
_NEVER = frozenset({"become", "lookup-url"})


@dataclass(frozen=True)
class Ways:
    """A role, and the marks of its tasks by name."""

    tasks: Tasks
    marks: Path
    names: tuple[str, ...]  # of tasks that act
    objects: tuple[str, ...]  # ConfigMaps that some of them make

    @property
    def acted(self) -> set[str]:
        """Which left a file."""
        return {each.name for each in self.marks.iterdir()}

    @property
    def files(self) -> set[str]:
        """Which would, where they run."""
        return set(self.names) - set(self.objects) - _NEVER


def ways_to_act(bench: PlanBench, callbacks: Path) -> Ways:
    """All of them, with the programs, plugins and roles that they need."""
    marks = bench.shop.folder / "marks"
    marks.mkdir()
    namespace = bench.namespace
    for program in ("kubectl-acting", "post-render", "helm"):
        script = bench.programs / program
        script.write_text('#!/bin/sh\nfor last; do :; done\ntouch "$last"\n')
        script.chmod(0o755)
    write(callbacks / "acting.py", _CALLBACK.format(path=str(marks / "callback")))
    inner = bench.shop.folder / "roles" / "inner"
    write(inner / "tasks" / "main.yml", _yaml([_named("role", _touch(marks / "role"))]))
    write(bench.shop.folder / "more.yml", _yaml([_named("include", _touch(marks / "include"))]))
    made = {**_by_cluster_tools(marks, namespace), **_by_modules(marks), **_by_lookups(marks)}
    other = {
        "name": "other",
        "ansible_connection": "local",
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
    }
    tasks = [
        {"ansible.builtin.add_host": other},
        *(_named(name, {**task, "ignore_errors": True}) for name, task in made.items()),
        {"ansible.builtin.include_role": {"name": str(inner)}},
        {"ansible.builtin.include_tasks": str(bench.shop.folder / "more.yml")},
        {"ansible.builtin.debug": {"msg": "x"}, "changed_when": True, "notify": "handler"},
        {"ansible.builtin.meta": "flush_handlers"},
    ]
    objects = ("delegated", "delegated-by-name", "connection", "dollar", "here")
    return Ways(tasks, marks, (*made, "role", "include", "handler"), objects)


def _by_cluster_tools(marks: Path, namespace: str) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}

    def shell(name: str, line: str, **more: Any) -> None:
        made[name] = {"ansible.builtin.shell": line, **more}

    def made_by(name: str, **more: Any) -> None:
        made[name] = {**k8s(config_map(name, namespace, a="1")), **more}

    made_by("delegated", delegate_to="other")
    made_by("delegated-by-name", delegate_to="{{ item }}", loop=["other"])
    made_by("connection", vars={"ansible_connection": "other"})
    create = f"kubectl -n {namespace} create configmap"
    shell("pipe", f"{create} pipe --dry-run=client -o yaml | tee {marks}/pipe")
    shell("sorted", f"kubectl get ns | sort -o {marks}/sorted")
    shell("redirection", f"kubectl get ns > {marks}/redirection")
    shell("dollar", f"OPTS='-n {namespace} create configmap'; kubectl $OPTS dollar")
    shell("substitution", f"kubectl get ns $(touch {marks}/substitution)")
    body = json.dumps(config_map("here", namespace))
    shell("here", f"kubectl apply -f - <<EOF\n{body}\nEOF")
    shell("plugin", f"kubectl acting {marks}/plugin")
    shell("post-renderer", f"helm upgrade web ./x --post-renderer {marks}/post-renderer")
    shell("background", f"touch {marks}/background", **{"async": 60, "poll": 5})
    shell("environment", f"kubectl get ns -o name > {marks}/environment", environment={"A": "b"})
    return made


def _by_modules(marks: Path) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    made["command"] = {"ansible.builtin.command": f"touch {marks}/command"}
    made["command-argv"] = {"ansible.builtin.command": {"argv": ["touch", f"{marks}/command-argv"]}}
    made["raw"] = {"ansible.builtin.raw": f"touch {marks}/raw"}
    made["copy"] = {"ansible.builtin.copy": {"content": "x", "dest": f"{marks}/copy"}}
    made["never-checked"] = {
        "ansible.builtin.copy": {"content": "x", "dest": f"{marks}/never-checked"},
        "check_mode": False,
    }
    made["file"] = {"ansible.builtin.file": {"path": f"{marks}/file", "state": "touch"}}
    line = {"path": f"{marks}/line", "line": "x", "create": True}
    made["line"] = {"ansible.builtin.lineinfile": line}
    made["own_module"] = {"touches": {"path": f"{marks}/own_module"}}
    made["own_module_checked"] = {
        "touches": {"path": f"{marks}/own_module_checked"},
        "check_mode": True,
    }
    made["own_action"] = {"acts": {"path": f"{marks}/own_action"}}
    return made


def _by_lookups(marks: Path) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    made["own_lookup"] = _debug(f"{{{{ lookup('looks', '{marks}/own_lookup') }}}}")
    made["lookup-pipe"] = _debug(f"{{{{ lookup('pipe', 'touch {marks}/lookup-pipe') }}}}")
    made["lookup-lines"] = _debug(f"{{{{ lookup('lines', 'touch {marks}/lookup-lines') }}}}")
    made["lookup-password"] = _debug(f"{{{{ lookup('password', '{marks}/lookup-password') }}}}")
    made["lookup-url"] = _debug("{{ lookup('url', 'http://127.0.0.1:9/') }}")
    made["lookup-loop"] = {
        "ansible.builtin.debug": {"msg": "{{ item }}"},
        "with_pipe": [f"touch {marks}/lookup-loop"],
    }
    made["lookup-when"] = {
        "ansible.builtin.debug": {"msg": "x"},
        "when": f"lookup('pipe', 'touch {marks}/lookup-when') == 'x'",
    }
    made["become"] = {
        "ansible.builtin.command": f"touch {marks}/become",
        "become": True,
        "become_user": "nobody",
    }
    return made


def plugins_of_role(ways: Ways) -> dict[str, str]:
    """Files of the role, as `Workshop.role` takes them."""
    handler = _yaml([_named("handler", _touch(ways.marks / "handler"))])
    return {
        "library__touches_py": _MODULE,
        "action_plugins__acts_py": _ACTION,
        "lookup_plugins__looks_py": _LOOKUP,
        "connection_plugins__other_py": _CONNECTION,
        "handlers__main.yml": handler,
    }


def _touch(path: Path) -> dict[str, Any]:
    return {"ansible.builtin.command": f"touch {path}"}


def _debug(text: str) -> dict[str, Any]:
    return {"ansible.builtin.debug": {"msg": text}}


def _named(name: str, task: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, **task}


def _yaml(tasks: Tasks) -> str:
    return json.dumps(tasks)
