"""Tests of an operator on a real API server: what envtest is to operators in Go.

Fixtures of the pytest plugin, which comes with this distribution (docs/guides/testing.md):

    cluster      a control plane, started when the first test asks for it
    namespace    a fresh namespace in it, named after the test
    engine       the project of the current folder at work, with its real roles; one for all tests
    apply        creates what a file or a dict describes, in the test's namespace
    dependents   finds what a custom resource owns
    eventually   waits until the cluster looks right, and shows what it looked like if it never did

For tests of the engine itself, without Ansible, `EngineInProcess` is the engine inside of the test's
event loop, ready within a tenth of a second, and `ScriptedPlay` is its runner: a function of the test
performs the play of each kind. Its requests pass the engine's real proxy with the run's own credential,
and folders, time limits, events, record, artifacts and result are those of a run of `ansible-playbook`:

    async def shelf(run: ScriptedRun) -> None:
        async with run.task("make books") as task:
            for book in run.spec["books"]:
                await task.present(config_map(run.namespace, f"{run.name}-{book}"))
        async with run.task("look", module="kubernetes.core.k8s_info") as task:
            found = await task.list("v1", "Secret", labels="app=x")
        async with run.task("may fail", module="ansible.builtin.fail", ignore_errors=True) as task:
            task.fail("asked to")
        await run.requeue_after("1h")

    async def test_shelf_has_its_books(cluster, namespace):
        plays = ScriptedPlay({"Shelf": shelf})
        async with EngineInProcess(
            PROJECT, plays, kubeconfig=cluster.kubeconfig, environment={"WATCH_NAMESPACE": namespace}
        ) as engine:
            ...
            assert await engine.runs("Shelf") == 1
            assert "run finished" in engine.log

- A script gets the run: `cr`, `spec`, `variables` as a role gets them, `is_finalizer`, `is_planned`,
  `cause`, `kubeconfig`. Scripts run on the test's loop, so they can wait for an `asyncio.Event` of it.
- Requests of a task: `get`, `list`, `present`, `create`, `replace`, `patch`, `apply`, `absent`,
  `patch_status`, and `request` for any other. They send what `kubernetes.core.k8s` sends.
- A failed request, `task.fail()` or a failed `assert` fails the task and the run. `ignore_errors`,
  `rescued` and `when` are arguments of `run.task`. `run.end_play()` is `meta: end_play`.
- A module that is not pure makes the run impure, as `run.uses` and `run.be_impure` do, and
  `run.environment` reads a variable that is an input. `async with run.waiting()` leaves the run's slot.
- `ScriptedPlay.runs` has the runs that began. Any other exception of a script fails `engine.stop()`.
- A restart is a second `EngineInProcess` with the `artifacts` of the first. Two at a time are replicas.
"""

from rolecall_dev.testing.in_process import EngineInProcess
from rolecall_dev.testing.project import ProjectEngine
from rolecall_dev.testing.scripted import (
    ProxyAnswer,
    RequestFailed,
    Script,
    ScriptedPlay,
    ScriptedRun,
    ScriptedTask,
    TaskFailed,
)
from rolecall_dev.testing.waiting import (
    TIMEOUT_S,
    NeverCameError,
    eventually,
    eventually_async,
)

__all__ = [
    "TIMEOUT_S",
    "EngineInProcess",
    "NeverCameError",
    "ProjectEngine",
    "ProxyAnswer",
    "RequestFailed",
    "Script",
    "ScriptedPlay",
    "ScriptedRun",
    "ScriptedTask",
    "TaskFailed",
    "eventually",
    "eventually_async",
]
