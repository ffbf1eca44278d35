"""One scripted run as its function sees it: what a role is given, and the tasks that it performs."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from rolecall.clock import Clock
from rolecall.json_object import Json
from rolecall.runner import PreparedRun, RunRequest, extra_vars
from rolecall_base.purity import Used, full_name, purity_of
from rolecall_dev.testing.scripted.events import Events, TaskFacts
from rolecall_dev.testing.scripted.requests import ProxySession, RequestFailed, Requests

_REQUEUE = "operator_sdk.util.requeue_after"
_META = "ansible.builtin.meta"


class TaskFailed(Exception):  # noqa: N818 - a script raises it as the failure of its task
    """A task fails with this message; `result` has more keys of its result."""

    def __init__(self, message: str, **result: Any) -> None:
        super().__init__(message)
        self.result = {"msg": message, **result}


class PlayEnded(Exception):  # noqa: N818 - not an error
    """`meta: end_play`."""


class ScriptedTask(Requests):
    """One task while it is performed; a task with a write that changed something is `changed`."""

    def __init__(self, session: ProxySession, namespace: str, facts: TaskFacts) -> None:
        super().__init__(session, namespace)
        self.facts = facts
        self.changed = False
        self.result: Json = {}  # more keys of the task's result
        self.skipped = False

    def fail(self, message: str = "asked to", **result: Any) -> None:
        """Fail the task, and with it the play, unless the task ignores it or a block rescues it."""
        raise TaskFailed(message, **result)

    def skip(self) -> None:
        """The condition of the task is false. Call it before anything else."""
        self.skipped = True

    def _read(self, found: list[Json]) -> None:
        self.result["resources"] = found

    def _wrote(self, result: Json, method: str, *, changed: bool) -> None:
        self.result |= {"result": result, "method": method}
        self.changed = self.changed or changed


class ScriptedRun(Requests):
    """What a script is given. Requests outside of a task belong to no task in the record."""

    def __init__(
        self,
        prepared: PreparedRun,
        session: ProxySession,
        events: Events,
        clock: Clock,
        gain_slot: Callable[[], Any],
    ) -> None:
        self.request_of_run: RunRequest = prepared.request
        self.cr: Json = prepared.request.cr
        metadata = self.cr.get("metadata") or {}
        self.name, namespace = str(metadata.get("name") or ""), metadata.get("namespace")
        super().__init__(session, str(namespace or ""))
        self.run_id = prepared.request.run_id
        self.is_finalizer = prepared.request.is_finalizer
        self.is_planned = prepared.request.plan_notes is not None
        self.cause = prepared.request.cause
        self.kubeconfig = prepared.request.kubeconfig
        self.artifacts = prepared.artifacts
        self._prepared = prepared
        self._events, self._clock = events, clock
        self._gain_slot = gain_slot
        self._lines = 0
        self._impure = ""
        self._variables: set[str] = set()

    @property
    def spec(self) -> Json:
        """The CR's `spec`, with the names that the CR has."""
        spec: Json = self.cr.get("spec") or {}
        return spec

    @property
    def variables(self) -> Json:
        """The extra vars of a role: names in snake_case, `ansible_operator_meta`, `vars`."""
        return extra_vars(self.request_of_run).values

    @property
    def has_failed(self) -> bool:
        """Whether a task failed that nothing ignored or rescued."""
        return self._events.has_failures

    @property
    def impure(self) -> str:
        """The first thing that this run used and that is not a function of its inputs."""
        return self._impure

    @property
    def used_variables(self) -> frozenset[str]:
        """Variables of the environment that the run read."""
        return frozenset(self._variables)

    @contextlib.asynccontextmanager
    async def task(
        self,
        name: str,
        *,
        module: str = "kubernetes.core.k8s",
        when: bool = True,
        ignore_errors: bool = False,
        rescued: bool = False,
    ) -> AsyncIterator[ScriptedTask]:
        """Perform a task: what is requested inside belongs to it in the record.

        A failed request, `TaskFailed` and a failed `assert` fail the task. With `ignore_errors` or
        `rescued` the play goes on after it. A module that is not pure makes the run impure. With
        `when=False` the task is skipped; its body should look at `task.skipped`.
        """
        facts = self._facts(name, module)
        task = ScriptedTask(self._session, self.namespace, facts)
        task.skipped = not when
        self._events.task_starts(facts)
        self._judge(module, facts.path)
        try:
            yield task
        except (TaskFailed, RequestFailed, AssertionError) as error:
            result = {"changed": task.changed, "failed": True, **task.result, **_result_of(error)}
            self._events.task_failed(facts, result, ignored=ignore_errors, rescued=rescued)
            if not (ignore_errors or rescued):
                raise
        else:
            if task.skipped:
                self._events.task_is_skipped(facts)
            else:
                result = {"changed": task.changed, **task.result}
                self._events.task_is_ok(facts, result)

    async def requeue_after(self, period: str) -> None:
        """The task `requeue_after`: reconcile the CR again after this duration, such as `1h`."""
        async with self.task("ask to come back", module=_REQUEUE) as task:
            task.result["period"] = period

    def end_play(self) -> None:
        """`meta: end_play`: the tasks that follow are not performed, and the run is a success."""
        self._events.task_starts(self._facts("stop before the rest", _META))
        raise PlayEnded

    def uses(self, used: Used, name: str) -> None:
        """A filter, test, lookup or function is used: an impure one makes the run impure."""
        purity = purity_of(used, name)
        if not purity.is_pure:
            self.be_impure(f"{used.value} `{name}` {purity.reason}")

    def be_impure(self, what: str) -> None:
        """The run depends on something that is not its input, so an equal run is not skipped."""
        self._impure = self._impure or what

    def environment(self, name: str) -> str:
        """A variable of the engine's environment, which is an input of the run."""
        self._variables.add(name)
        return os.environ.get(name, "")

    @contextlib.asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        """Leave the run's slot while the block waits, as a task with `until` does."""
        slot = self.request_of_run.slot
        if slot is None:
            yield
            return
        slot.leave()
        try:
            yield
        finally:
            await self._gain_slot()

    def _facts(self, name: str, module: str) -> TaskFacts:
        self._lines += 1
        play = self._prepared.play
        file = play.path / "tasks" / "main.yml" if play.is_role else play.path
        return TaskFacts(name, module, f"{file}:{self._lines}")

    def _judge(self, module: str, place: str) -> None:
        purity = purity_of(Used.ACTION, full_name(module))
        if not purity.is_pure:
            short = re.sub(r"^.*/(roles|playbooks)/", r"\1/", place)
            name = module.removeprefix("ansible.builtin.")
            self.be_impure(f"`{short}`: action `{name}` {purity.reason}")


def _result_of(error: BaseException) -> Mapping[str, Any]:
    if isinstance(error, TaskFailed):
        return error.result
    if isinstance(error, RequestFailed):
        return {"msg": str(error), "status": error.code}
    return {"msg": str(error) or "Assertion failed"}
