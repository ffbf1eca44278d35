"""Turns the plays of a run child into plays that only plan, where its order says so.

The rules are in `planned`; this applies them where nothing passes by: when the executor has taken a
task's action plugin, with all of the task's values rendered, for each item of a loop, in the run child
and in workers that Ansible forked; at each module; and as plugins of other kinds are loaded. So
includes, handlers, blocks and tasks in the background need no rules of their own, and a task whose
`when` is false is not noted.

Noted for the plan is a line of JSON for each thing that was not run, in a file that the engine named. A
file, and not the events: what a task with `no_log` reports is censored.

Tasks are changed in place. That is safe here alone: a run child plays one play and ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError

from rolecall_base.variables import PLAN_VARIABLE
from rolecall_warm.hooks.planned import (
    Decision,
    Doing,
    decide_action,
    decide_module,
    elsewhere,
    may_wait,
    waits,
    why_no_lookup,
    without_waiting,
)

_LONGEST_TEXT = 300
_LOCAL = "ansible.builtin.local"
# Loaded without being asked for by name; a plan leaves out all but those that are.
_AUTOMATIC = frozenset({"callback", "vars"})
# Of these a plan loads ansible-core's own alone; a role has no business with others.
_OF_CORE_ALONE = frozenset({"become", "cache", "shell", "strategy", "vars"})


@dataclass(frozen=True, slots=True)
class PlannedModule:
    """A module that runs in a plan: with which arguments, and what to do with its result."""

    asked: dict[str, Any]
    ended: Callable[[dict[str, Any]], None]


class Planning:
    """Off until `renew` finds that this run plans."""

    def __init__(self, core: Any) -> None:
        self._core = core  # ansible-core's parts, see `core`
        self._notes: Path | None = None
        self._has_callbacks = True
        self._task: Any = None
        self._is_within = False  # an action that has its note, whatever its modules do
        self._until: dict[str, str] = {}
        self._noted: set[tuple[str, ...]] = set()

    def renew(self) -> None:
        """Look at the environment of the run."""
        named = os.environ.get(PLAN_VARIABLE)
        self._notes = Path(named) if named else None
        if self._notes is not None:
            self._core.forget_callbacks()
        self._has_callbacks = self._notes is None

    def practise(self) -> None:
        """A play of the host's own follows: callbacks of the project have no part in it."""
        self._has_callbacks = False

    def before_task(self, task: Any) -> None:
        """Change a task that is about to run; the last look at it before its worker."""
        if self._notes is None:
            return
        self._task = task
        if task.until or task.retries:
            until = [task.until] if isinstance(task.until, str) else task.until or ()
            conditions = " and ".join(str(each) for each in until)
            self._until[str(task._uuid)] = conditions or "the task to succeed"
            task.until, task.retries = [], None
        task.async_val = 0  # what goes on in the background is judged as well

    def load_callbacks(self, original: Callable[..., None], queue_manager: Any) -> None:
        """The stand-in for `TaskQueueManager.load_callbacks`: none but the one that reports events."""
        if not self._has_callbacks:
            queue_manager._run_additional_callbacks = False
        original(queue_manager)

    def all_plugins(
        self, original: Callable[..., Any], loader: Any, *args: Any, **more: Any
    ) -> Iterable[Any]:
        """The stand-in for `PluginLoader.all`."""
        if self._notes is not None and loader.type in _AUTOMATIC:
            return iter(())
        found: Iterable[Any] = original(loader, *args, **more)
        return found

    def find_plugin(
        self, original: Callable[..., Any], loader: Any, name: str, /, *args: Any, **more: Any
    ) -> Any:
        """The stand-in for `PluginLoader.get_with_context`."""
        if self._notes is None:
            return original(loader, name, *args, **more)
        kind = loader.type
        instead = ""
        if kind == "lookup" and not more.get("class_only"):
            return self._find_lookup(original, loader, name, *args, **more)
        if kind == "connection" and self._full_name(loader, name, more) != _LOCAL:
            instead, name = name, _LOCAL
        elif kind in _OF_CORE_ALONE:
            self._refuse_own(loader, name, more)
        found = original(loader, name, *args, **more)
        if found.object is None:
            return found
        if instead:
            found.object._planned_instead_of = instead
        elif kind == "action" and "task" in more:
            self._hold(found.object, more["task"], more["connection"])
        elif kind == "inventory":
            self._hold_inventory(found.object, name)
        return found

    @contextlib.contextmanager
    def module(
        self, action: Any, name_of: Callable[[], str], asked: dict[str, Any]
    ) -> Iterator[PlannedModule | None]:
        """How a module is run; None: it is not."""
        if self._notes is None:
            yield PlannedModule(asked, lambda _: None)
            return
        task, name = action._task, name_of()
        given = asked["module_args"]
        arguments = task.args if given is None else given
        environment: dict[str, Any] = {}
        action._compute_environment_string(environment)
        shown = str(asked["module_name"] or task.action)
        decision = decide_module(name, arguments, environment, shown)
        if decision.doing is Doing.SKIP:
            self._note(task, decision)
            yield None
            return
        if wanted := waits(name, arguments):
            self._note(task, Decision(Doing.RUN, "wait", wanted))
        if may_wait(name):
            asked = {**asked, "module_args": without_waiting(name, arguments)}
        if decision.doing is Doing.RUN:
            yield PlannedModule(asked, lambda _: None)
            return
        with _in_check_mode(task):
            yield PlannedModule(asked, lambda result: self._note_result(task, decision, result))

    def _hold(self, handler: Any, task: Any, connection: Any) -> None:
        """Have the rules in front of an action; nothing of it has run yet."""
        run = handler.run
        path = getattr(type(handler), "_original_path", "") or getattr(
            handler, "_original_path", ""
        )
        identity = self._core.identify_plugin(path, "action")

        def planned(tmp: Any = None, task_vars: Any = None) -> Any:
            away = elsewhere(
                connection=getattr(connection, "_planned_instead_of", ""),
                host=str(task.delegate_to or ""),
                play_host=str((task_vars or {}).get("inventory_hostname") or ""),
                is_become=bool(connection.become),
            )
            name, collection, is_genuine = identity
            decision = decide_action(name, collection, is_genuine=is_genuine, elsewhere=away)
            if until := self._until.get(str(task._uuid)):
                self._note(task, Decision(Doing.RUN, "wait", until))
            if decision.doing is Doing.SKIP:
                self._note(task, decision)
                return {"skipped": True, "changed": False, "msg": f"a plan does not run `{name}`"}
            if decision.doing is Doing.RUN:
                return run(tmp, task_vars)
            result: dict[str, Any] = {"skipped": True}  # unless it comes to its end
            try:
                with _in_check_mode(task), self._within():
                    result = run(tmp, task_vars)
            finally:
                self._note_result(task, decision, result)
            return result

        handler.run = planned

    def _find_lookup(
        self, original: Callable[..., Any], loader: Any, name: str, /, *args: Any, **more: Any
    ) -> Any:
        full = self._full_name(loader, name, more)
        self._refuse_lookup(why_no_lookup(full, {}, name))
        found = original(loader, name, *args, **more)
        if found.object is not None and full == "kubernetes.core.k8s":
            run = found.object.run

            def held(terms: Any, *values: Any, **named: Any) -> Any:
                self._refuse_lookup(why_no_lookup(full, named, name))
                return run(terms, *values, **named)

            found.object.run = held
        return found

    def _refuse_lookup(self, why: str) -> None:
        if why:
            self._note(self._task, Decision(Doing.SKIP, "unknown", why))
            raise AnsibleError(f"a plan does not run this: {why}")

    def _refuse_own(self, loader: Any, name: str, more: dict[str, Any]) -> None:
        full = self._full_name(loader, name, more)
        if full and not full.startswith("ansible.builtin."):
            what = f"{loader.type} plugin `{name}`"
            self._note(self._task, Decision(Doing.SKIP, "unknown", what))
            raise AnsibleError(f"a plan does not run the {what}: only those of ansible-core")

    def _hold_inventory(self, plugin: Any, name: str) -> None:
        path = getattr(plugin, "_original_path", "") or ""
        stem, collection, _ = self._core.identify_plugin(path, "inventory")
        if collection == "ansible.builtin" and stem != "script":
            return
        verify = plugin.verify_file

        def refused(file: Any) -> bool:
            if verify(file):
                self._note(None, Decision(Doing.SKIP, "unknown", f"inventory of `{name}`"))
            return False

        plugin.verify_file = refused

    def _full_name(self, loader: Any, name: str, more: dict[str, Any]) -> str:
        """Collection and name, by the file that a plugin would be loaded from; empty: not known."""
        found = loader.find_plugin_with_context(name, collection_list=more.get("collection_list"))
        if not found.resolved or not found.plugin_resolved_path:
            return ""
        stem, collection, is_genuine = self._core.identify_plugin(
            found.plugin_resolved_path, loader.type
        )
        return f"{collection if is_genuine else 'own'}.{stem}"

    def _note_result(self, task: Any, decision: Decision, result: dict[str, Any]) -> None:
        """Of what ran in check mode, only what says that it would have done something."""
        is_nothing = not (result.get("changed") or result.get("skipped") or result.get("failed"))
        if not is_nothing or decision.kind == "wait":
            self._note(task, decision)

    @contextlib.contextmanager
    def _within(self) -> Iterator[None]:
        before, self._is_within = self._is_within, True
        try:
            yield
        finally:
            self._is_within = before

    def _note(self, task: Any, decision: Decision) -> None:
        if not decision.kind or self._notes is None or self._is_within:
            return
        place = "" if task is None else str(task.get_path())[:_LONGEST_TEXT]
        named = "" if task is None else str(task.get_name())[:_LONGEST_TEXT]
        what = decision.what[:_LONGEST_TEXT]
        if (decision.kind, what, named, place) in self._noted:
            return
        self._noted.add((decision.kind, what, named, place))
        line = {
            "kind": decision.kind,
            "what": what,
            "task": named,
            "place": place,
            "is_registered": bool(task is not None and task.register),
            "at_s": time.monotonic(),
        }
        with self._notes.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


@contextlib.contextmanager
def _in_check_mode(task: Any) -> Iterator[None]:
    before = task.check_mode
    task.check_mode = True
    try:
        yield
    finally:
        task.check_mode = before
