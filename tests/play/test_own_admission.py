"""Our roles of admission, run in both ways without a cluster: where nothing has to be read."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from rolecall.extensions.versions.admission.answer_tasks import AnswerTasks, PlayAnswer
from rolecall.json_object import Json
from rolecall.runner import Ending
from rolecall.watches import Play
from tests.play.plays import Workspace

ROLES = Path(__file__).parents[2] / "roles"
MEMBERS = [{"name": f"db-{number}", "version": "3.5.35", "healthy": True} for number in range(3)]


def request(operation: str, spec: Json, old: Json | None = None) -> Json:
    status = {"members": MEMBERS}
    return {
        "object": {"spec": spec, "status": status},
        "old_object": old and {"spec": old, "status": status},
        "operation": operation,
        "user": {"username": "jane", "groups": [], "uid": ""},
        "namespace": "demo",
        "name": "db",
        "subresource": "",
        "dry_run": False,
        "options": None,
    }


def answers(workspace: Workspace, *asked: tuple[str, Json]) -> list[PlayAnswer]:
    """Of these roles to these requests, one after the other."""

    async def run() -> list[PlayAnswer]:
        runner = workspace.runner()
        found = []
        try:
            for role, admission in asked:
                wanted = workspace.request(Play(ROLES / role, is_role=True))
                variables = {"admission": admission}
                wanted = replace(wanted, variables=variables, is_awaited=True, keep_artifacts=1)
                wanted = replace(wanted, read_tasks=AnswerTasks)
                handle = await runner.start(wanted, lambda _: None)
                result = await handle.result()
                assert result.ending is Ending.FINISHED, result
                assert isinstance(result.answer, PlayAnswer)
                found.append(result.answer)
        finally:
            await runner.close()
        return found

    return asyncio.run(run())


@pytest.mark.parametrize("way", [pytest.param("stock", marks=pytest.mark.nightly), "warm"])
def test_roles_deny_allow_and_give_defaults(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSIBLE_COLLECTIONS_PATH", str(ROLES.parent / ".collections"))
    spec = {"version": "3.5.35", "replicas": 3}
    text = "{{ lookup('env', 'HOME') }}"
    denied, allowed, given = answers(
        Workspace(tmp_path, way),
        (
            "etcdcluster_admission",
            request("UPDATE", {**spec, "version": "3.7.0", "image": text}, spec),
        ),
        ("etcdcluster_admission", request("UPDATE", {**spec, "version": "3.6.0"}, spec)),
        ("machine_defaults", request("CREATE", {"image": text, "user": 5})),
    )
    (said,) = denied.denials
    assert said.startswith("spec.version: etcd cannot go from 3.5.35 to 3.7.0 at once")
    assert (allowed.denials, allowed.warnings) == ((), ())
    assert given.patch == {}
