"""What changed on disk counts from the next run on; a worn or idle host is replaced without a gap."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rolecall.runner.inputs import BUNDLED_COLLECTIONS
from rolecall.runner.warm import HostLimits
from tests.play.warm.runs import (
    PATIENCE_S,
    Tasks,
    debug,
    descriptors,
    is_alive,
    until,
    workshop,
    write,
)

MODULE = """#!/usr/bin/python
from ansible.module_utils.basic import AnsibleModule
AnsibleModule(argument_spec=dict()).exit_json(changed=True, word="%s")
"""
SAYS = {"ansible.builtin.debug": {"msg": "{{ said.word }} {{ lookup('template', 't.j2') }}"}}


async def test_edited_role_takes_effect_at_the_next_run(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        tasks: Tasks = [{"says": None, "register": "said"}, SAYS]
        files = {"library__says_py": MODULE % "first", "templates__t.j2": "one"}
        first = await shop.run(shop.role("edited", tasks, **files))
        files = {"library__says_py": MODULE % "second", "templates__t.j2": "two"}
        second = await shop.run(shop.role("edited", [*tasks, debug("more")], **files))
        assert [first.way, second.way] == ["warm", "warm"]
        assert "first one" in _stdout(first.artifacts)
        assert "second two" in _stdout(second.artifacts)
        assert second.recap is not None and second.recap.ok == 3


@pytest.mark.nightly
async def test_changed_collection_takes_effect_at_the_next_run(tmp_path: Path) -> None:
    collections = tmp_path / "collections"
    shutil.copytree(BUNDLED_COLLECTIONS, collections)
    module = collections / "ansible_collections/operator_sdk/util/plugins/modules/requeue_after.py"
    async with workshop(tmp_path, collections_path=str(collections)) as shop:
        role = shop.role("requeues", [{"operator_sdk.util.requeue_after": {"time": "5s"}}])
        assert (await shop.run(role)).requeue_after_s == 5
        module.write_text((MODULE % "another module").replace("dict())", "dict(time=dict()))"))
        result = await shop.run(role)
        assert result.requeue_after_s is None and result.changed_tasks
        utils = collections / "ansible_collections/rolecall/operator/plugins/module_utils/api.py"
        utils.write_text(utils.read_text() + "\n# changed\n")
        before = shop.host_pid
        results = [await shop.run(role), await shop.run(role)]
        assert all(result.succeeded for result in results)
        assert shop.host_pid != before
        await until(lambda: not is_alive(before), "the old host to be gone")


@pytest.mark.nightly
async def test_edited_ansible_cfg_makes_another_host(tmp_path: Path) -> None:
    config = tmp_path / "ansible.cfg"
    environment = {"ANSIBLE_CONFIG": str(config)}
    write(config, "[defaults]\ndisplay_args_to_stdout = false\n")
    async with workshop(tmp_path, environment=environment) as shop:
        role = shop.role("speaks", [debug("hello")])
        first = await shop.run(role)
        write(config, "[defaults]\ndisplay_args_to_stdout = true\n")
        second = await shop.run(role)
        assert [first.way, second.way] == ["warm", "warm"]
        assert "msg=hello" not in _stdout(first.artifacts)
        assert "msg=hello" in _stdout(second.artifacts)


@pytest.mark.nightly
async def test_worn_host_serves_until_its_successor_is_warm(tmp_path: Path) -> None:
    async with workshop(tmp_path, HostLimits(runs=2, start_wait_s=PATIENCE_S)) as shop:
        role = shop.role("speaks", [debug("hello")])
        await shop.run(role)
        first = shop.host_pid
        ways = []
        while shop.host_pid == first:
            ways.append((await shop.run(role)).way)
            assert len(ways) < 500, "it was never replaced"
        assert set(ways) == {"warm"}
        await until(lambda: not is_alive(first), "the worn host to go")


@pytest.mark.nightly
async def test_idle_host_goes_and_comes_back(tmp_path: Path) -> None:
    async with workshop(tmp_path, warm_idle_s=0.2) as shop:
        role = shop.role("speaks", [debug("hello")])
        await shop.run(role)
        first = shop.host_pid
        await until(lambda: not is_alive(first), "the idle host to go")
        assert (await shop.run(role)).way == "warm"


async def test_unknown_ansible_core_is_not_trusted(tmp_path: Path) -> None:
    strange = tmp_path / "python"
    write(
        strange / "sitecustomize.py",
        "import sys\n"
        "if 'rolecall_warm/__main__.py' in ' '.join(sys.orig_argv):\n"
        "    from rolecall_warm.hooks import digests\n"
        "    digests.known_digests = dict\n",
    )
    environment = {"PYTHONPATH": str(strange)}
    async with workshop(tmp_path, environment=environment) as shop:
        result = await shop.run(shop.role("speaks", [debug("hello")]))
        assert result.succeeded and result.way == "stock"


@pytest.mark.nightly
async def test_many_runs_leave_nothing_in_the_engine(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        role = shop.role("speaks", [debug("hello")])
        await shop.run(role)
        before = descriptors("self")
        for _ in range(20):
            await shop.run(role)
        assert descriptors("self") == before
        assert descriptors(shop.host_pid) < 20


def _stdout(artifacts: Path | None) -> str:
    assert artifacts is not None
    return (artifacts / "stdout").read_text()
