"""What a run read and wrote is kept beside its artifacts, with the task that did it."""

from __future__ import annotations

from pathlib import Path

from rolecall.kube import Client
from rolecall.record import RecordedRequest, RunRecord, read_record
from tests.e2e.engine import EngineProcess
from tests.e2e.kinds import cr
from tests.e2e.test_story import MEMCACHED, first_success
from tests.fixtures.eventually import eventually


def records(engine: EngineProcess, namespace: str) -> list[tuple[Path, RunRecord]]:
    """Of all runs in a namespace that left one, oldest first."""
    files = engine.artifacts.glob(f"**/{namespace}/**/record.json")
    found = [(file.parent, read_record(file.parent)) for file in files]
    whole = [(folder, record) for folder, record in found if record is not None]
    return sorted(whole, key=lambda each: each[1].began_s)


async def test_run_keeps_what_it_read_and_wrote_by_task(
    api: Client, namespace: str, engine: EngineProcess
) -> None:
    created = await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    await first_success(api, created)
    check_first_record(engine, namespace)


def check_first_record(engine: EngineProcess, namespace: str) -> None:
    """The record of the first run of `memcached` has what its tasks did."""
    folder, record = eventually(lambda: records(engine, namespace), bool)[0]

    assert (folder / "record.json").stat().st_mode & 0o077 == 0
    assert record.is_complete
    assert [task.place for task in record.tasks] == sorted(task.place for task in record.tasks)
    made = _the(record, verb="create", resource="deployments")
    task = record.task_of(made)
    assert task is not None
    assert task.place.startswith("roles/memcached/tasks/main.yml:")
    assert task.outcome == "changed"
    assert made.is_owned
    assert made.object_version
    assert ".spec.replicas" in made.leaves
    before = _the(record, verb="get", resource="deployments", code=404)
    assert before.task == made.task


def _the(record: RunRecord, **wanted: object) -> RecordedRequest:
    """The first request that is like this."""
    seen = [(each.verb, each.resource, each.code) for each in record.requests]
    found = [
        each
        for each in record.requests
        if all(getattr(each, name) == value for name, value in wanted.items())
    ]
    assert found, f"none is {wanted}: {seen}"
    return found[0]
