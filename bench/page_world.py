"""What the bench of the page looks at: very many CRs with kept runs, one long run, and users.

All but a few CRs are paused: an engine that has to work ten thousand off does nothing else for half an
hour. What it knows of them, and what is kept of their last runs, is the same.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from bench.engines import KINDS, World
from rolecall.clock import SystemClock
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, token_for
from rolecall.reconcile import pausing
from rolecall.workqueue import Key

ONE = KINDS["One"]
READERS = "page-readers"
_NAMESPACES, _BUSY, _AT_ONCE = 10, 10, 50
_ACCOUNT, _BINDING = (
    Gvk("", "v1", "ServiceAccount"),
    Gvk("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"),
)
LONG_RUN, _TASKS = "1000000000000000001", 5000
_MOMENT = "2026-01-01T00:00:{:02}.000000+00:00"


def namespaces() -> list[str]:
    return [f"page-{number}" for number in range(_NAMESPACES)]


def keys_of(count: int) -> list[Key]:
    """Of so many CRs, spread over the namespaces."""
    places = namespaces()
    return [Key(ONE, places[number % _NAMESPACES], f"cr-{number:05}") for number in range(count)]


def busy_of(keys: Sequence[Key]) -> list[Key]:
    """Those that are not paused: an edit of one of them is a run."""
    return list(keys[:_BUSY])


async def prepare(api: Client, keys: Sequence[Key], readers: int) -> list[str]:
    """CRs and users; returns a token of each user."""
    await World(api).prepare([*namespaces(), READERS])
    busy = frozenset(busy_of(keys))
    left = iter(keys)

    async def some() -> None:
        for key in left:
            metadata: Json = {"name": key.name, "namespace": key.namespace}
            if key not in busy:
                metadata |= pausing("bench", "it is one of very many", SystemClock().now())[
                    "metadata"
                ]
            body = {"apiVersion": ONE.api_version, "kind": ONE.kind, "metadata": metadata}
            await api.create(ONE, {**body, "spec": {"size": 1}})

    await asyncio.gather(*(some() for _ in range(_AT_ONCE)))
    return await _users(api, readers)


async def _users(api: Client, count: int) -> list[str]:
    await api.create(
        _BINDING,
        {
            "apiVersion": _BINDING.api_version,
            "kind": _BINDING.kind,
            "metadata": {"name": READERS},
            "roleRef": {
                "apiGroup": _BINDING.group,
                "kind": "ClusterRole",
                "name": "cluster-admin",
            },
            "subjects": [
                {
                    "kind": "Group",
                    "apiGroup": _BINDING.group,
                    "name": f"system:serviceaccounts:{READERS}",
                }
            ],
        },
    )
    tokens = []
    for number in range(count):
        metadata = {"name": f"reader-{number}", "namespace": READERS}
        body = {"apiVersion": "v1", "kind": _ACCOUNT.kind, "metadata": metadata}
        await api.create(_ACCOUNT, body)
        tokens.append(await token_for(api, READERS, metadata["name"], 7200))
    return tokens


def write_runs(root: Path, keys: Sequence[Key]) -> None:
    """One kept run of each CR; that of the last one has very many tasks: no newer run pushes it out."""
    for number, key in enumerate(keys):
        run = LONG_RUN if key == keys[-1] else str(2_000_000_000_000_000_000 + number)
        _write_run(root, key, run, is_failed=number % 20 == 19)
    _write_tasks(root.joinpath(*_folders(keys[-1]), LONG_RUN, "job_events"))


def _write_run(root: Path, key: Key, run: str, *, is_failed: bool) -> None:
    folder = root.joinpath(*_folders(key), run)
    folder.mkdir(parents=True)
    place = "roles/one/tasks/main.yml:2"
    failed = {"name": "write settings", "place": place, "message": "the disk is full"}
    facts = {
        "run": run,
        "kind": key.gvk.kind,
        "api_version": key.gvk.api_version,
        "namespace": key.namespace,
        "name": key.name,
        "generation": 1,
        "cause": "creation",
        "way": "warm",
        "began": _MOMENT.format(1),
        "ended": _MOMENT.format(2),
        "outcome": "failed" if is_failed else "succeeded",
        "ending": "" if is_failed else "Finished",
        "seconds": 0.9,
        "changed_tasks": [] if is_failed else [f"{place}: write settings"],
        "failed_task": failed if is_failed else None,
        "reason": "the disk is full" if is_failed else "",
        "engine": {"host": "elsewhere", "pid": 1, "began": "1"},
    }
    (folder / "run.json").write_text(json.dumps(facts, indent=1))


def _write_tasks(folder: Path) -> None:
    folder.mkdir()
    for number in range(_TASKS):
        data: Json = {
            "task": f"step {number:04}",
            "task_uuid": f"task-{number}",
            "task_path": f"/opt/ansible/roles/one/tasks/main.yml:{number + 2}",
            "resolved_action": "ansible.builtin.debug",
        }
        _write_event(folder, 2 * number + 1, "playbook_on_task_start", data)
        ended = {"host": "localhost", "duration": 0.01, "res": {"changed": number % 50 == 0}}
        _write_event(folder, 2 * number + 2, "runner_on_ok", data | ended)


def _write_event(folder: Path, counter: int, kind: str, data: Json) -> None:
    event = {"counter": counter, "event": kind, "created": _MOMENT.format(1), "event_data": data}
    (folder / f"{counter}-{counter:08x}-0000-4000-8000-000000000000.json").write_text(
        json.dumps(event)
    )


def _folders(key: Key) -> tuple[str, ...]:
    gvk = key.gvk
    return (gvk.group, gvk.version, gvk.kind, key.namespace, key.name, "artifacts")
