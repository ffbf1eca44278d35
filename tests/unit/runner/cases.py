"""Requests, prepared runs and events as tests of this room need them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rolecall.gvk import Gvk
from rolecall.runner import Ending, RunEvent, RunRequest, RunResult, terms_of
from rolecall.runner.fold import Exit, Fold
from rolecall.runner.inputs import PreparedRun
from rolecall.runner.secrets import Redactor
from rolecall.watches import Play, Watch

APP = Gvk("demo.example.com", "v1", "App")


def app(spec: Any = None, **fields: Any) -> dict[str, Any]:
    """A CR."""
    return {
        "apiVersion": "demo.example.com/v1",
        "kind": "App",
        "metadata": {"name": "shop", "namespace": "demo"},
        "spec": {} if spec is None else spec,
        **fields,
    }


def run_request(
    cr: dict[str, Any] | None = None,
    *,
    play: Play | None = None,
    gvk: Gvk = APP,
    run_id: str = "7001",
    kubeconfig: Path = Path("/nowhere/kubeconfig"),
    is_finalizer: bool = False,
    keep: int = 20,
    verbosity: int = 0,
    timeout_s: float | None = None,
    no_progress_timeout_s: float | None = None,
    withheld: frozenset[str] = frozenset(),
    **watch: Any,
) -> RunRequest:
    """A request for one run of a watch with these fields."""
    role = play or Play(Path("/project/roles/app"), is_role=True)
    return RunRequest(
        run_id=run_id,
        terms=terms_of(Watch(gvk, role, **watch), is_finalizer=is_finalizer),
        cr=app() if cr is None else cr,
        is_finalizer=is_finalizer,
        kubeconfig=kubeconfig,
        verbosity=verbosity,
        keep_artifacts=keep,
        timeout_s=timeout_s,
        no_progress_timeout_s=no_progress_timeout_s,
        withheld=withheld,
    )


def prepared_run(request: RunRequest | None = None, role_play: Path | None = None) -> PreparedRun:
    """A run that is as good as prepared, without a folder on disk."""
    request = request or run_request()
    folder = Path("/private")
    return PreparedRun(
        request=request,
        play=request.terms.play,
        private_dir=folder,
        artifacts=folder / "artifacts" / request.run_id,
        command=("ansible-playbook",),
        env={},
        cwd=folder,
        config=None,  # nothing that folds events looks at it
        role_play=role_play,
    )


class Reported:
    """A fold that gets events one by one, and numbers them."""

    def __init__(
        self, redactor: Redactor | None = None, prepared: PreparedRun | None = None
    ) -> None:
        self.fold = Fold(prepared or prepared_run(), redactor or Redactor())
        self.seen: list[RunEvent] = []
        self._counter = 0

    def event(self, name: str, stdout: str = "", **data: Any) -> Reported:
        """Add the next event."""
        self._counter += 1
        return self.numbered(self._counter, name, stdout, **data)

    def numbered(self, counter: int, name: str, stdout: str = "", **data: Any) -> Reported:
        """Add an event with a number of its own."""
        taken = self.fold.add(
            {
                "event": name,
                "uuid": f"u{counter}",
                "counter": counter,
                "created": "2026-11-21T09:13:44.120000+00:00",
                "stdout": stdout,
                "event_data": data,
            }
        )
        if taken is not None:
            self.seen.append(taken)
        return self

    def failed(self, task: str, msg: Any = "boom", **data: Any) -> Reported:
        """Add the failure of a task."""
        fields = {
            "task": task,
            "task_path": "/project/roles/app/tasks/main.yml:3",
            "host": "localhost",
            "res": {"msg": msg, "failed": True},
        }
        return self.event("runner_on_failed", **(fields | data))

    def stats(self, **rows: Any) -> Reported:
        """Add the recap."""
        rows = {name: {"localhost": row} for name, row in rows.items() if isinstance(row, int)} | {
            name: row for name, row in rows.items() if not isinstance(row, int)
        }
        return self.event("playbook_on_stats", "PLAY RECAP", **rows)

    def result(self, rc: int | None = 0, stdout: str = "", **exit_: Any) -> RunResult:
        """What the run came to."""
        return self.fold.result(Exit(rc, **exit_), stdout)


__all__ = ["APP", "Ending", "Reported", "app", "prepared_run", "run_request"]
