"""Nothing of one run shows in another: not its variables, files, environment, modules or facts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.play.warm.runs import Tasks, debug, workshop

SPOILER = """#!/usr/bin/python
import builtins, json, os, sys
from ansible.module_utils import basic
os.environ["SPOILED"] = "yes"
builtins.SPOILED = True
basic.AnsibleModule.exit_json_spoiled = True
json.SPOILED = True
sys.path.insert(0, "/spoiled")
sys.modules["spoiled_module"] = sys
basic.AnsibleModule(argument_spec=dict()).exit_json(ansible_facts=dict(spoiled="yes"))
"""
FILTER = """
import os, json
from ansible import constants
from ansible.plugins import loader
from ansible.utils.display import Display
def spoil(text):
    os.environ["SPOILED"] = "by filter"
    json.SPOILED = True
    constants.DEFAULT_FORKS = 4711
    Display().verbosity = 4
    return text
def traces(text):
    found = [name for name in os.environ if "SPOILED" in name]
    found += ["json"] if hasattr(json, "SPOILED") else []
    found += ["forks"] if constants.DEFAULT_FORKS == 4711 else []
    found += ["verbosity"] if Display().verbosity else []
    return found
class FilterModule:
    def filters(self): return dict(spoil=spoil, traces=traces)
"""
LOOK = """#!/usr/bin/python
import builtins, json, os, sys
from ansible.module_utils import basic
traces = [name for name in os.environ if "SPOILED" in name]
traces += [type(holder).__name__ for holder in (builtins, json) if hasattr(holder, "SPOILED")]
traces += ["path"] if "/spoiled" in sys.path else []
traces += ["modules"] if "spoiled_module" in sys.modules else []
traces += ["basic"] if hasattr(basic.AnsibleModule, "exit_json_spoiled") else []
basic.AnsibleModule(argument_spec=dict()).exit_json(traces=traces)
"""


async def test_adversarial_role_leaves_no_trace(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        spoils: Tasks = [
            {"spoils": None},
            {"ansible.builtin.set_fact": {"left": "{{ 'x' | spoil }}", "cacheable": True}},
        ]
        spoiler = shop.role(
            "spoiler", spoils, library__spoils_py=SPOILER, filter_plugins__mine_py=FILTER
        )
        looks: Tasks = [
            {"looks": None, "register": "seen"},
            {"ansible.builtin.assert": {"that": ["seen.traces == []", "'x' | traces == []"]}},
            {"ansible.builtin.assert": {"that": ["left is not defined", "spoiled is not defined"]}},
            {"ansible.builtin.assert": {"that": "ansible_facts.spoiled is not defined"}},
        ]
        looker = shop.role("looker", looks, library__looks_py=LOOK, filter_plugins__mine_py=FILTER)
        for name in ("one", "two"):
            assert (await shop.run(spoiler, name="one")).way == "warm"
            result = await shop.run(looker, name=name)
            assert result.succeeded, result.failures


async def test_runs_side_by_side_keep_to_themselves(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        tasks: Tasks = [
            {"ansible.builtin.set_fact": {"mine": "{{ ansible_operator_meta.name }}"}},
            {"ansible.builtin.command": "sleep 0.05"},
            debug("{{ mine }} {{ lookup('env', 'KUBECONFIG') | basename }} {{ secret }}"),
        ]
        role = shop.role("names", tasks)
        names = [f"n{number}" for number in range(6)]
        runs = [
            shop.run(
                role, name=name, spec={"secret": f"s-{name}"}, kubeconfig=tmp_path / f"k-{name}"
            )
            for name in names
        ]
        for name, result in zip(names, await asyncio.gather(*runs), strict=True):
            assert result.artifacts is not None
            stdout = (result.artifacts / "stdout").read_text()
            assert f"{name} k-{name} s-{name}" in stdout
            assert all(f"s-{other}" not in stdout for other in names if other != name)


async def test_ids_and_random_values_differ_between_runs(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        tasks = [
            debug("{{ lookup('password', '/dev/null') }}{{ 99999999 | random }}"),
            {"ansible.builtin.tempfile": {"path": str(tmp_path)}},
        ]
        role = shop.role("random", tasks)
        uuids: list[set[str]] = []
        words = set()
        for _ in range(2):
            result = await shop.run(role)
            assert result.artifacts is not None
            events = [
                json.loads(path.read_text())
                for path in (result.artifacts / "job_events").glob("*.json")
            ]
            uuids.append({event["uuid"] for event in events})
            words |= {event["stdout"] for event in events if "msg" in event["stdout"]}
        assert not uuids[0] & uuids[1]
        assert len(words) == 2


async def test_host_holds_no_variables_of_any_play(tmp_path: Path) -> None:
    async with workshop(tmp_path, ansible_args="-e given=first --check") as shop:
        asserts: Tasks = [
            {"ansible.builtin.assert": {"that": ["given == 'first'", "ansible_check_mode"]}},
            {"ansible.builtin.assert": {"that": "mine == ansible_operator_meta.name"}},
        ]
        role = shop.role("asserts", asserts)
        for name in ("one", "two"):
            result = await shop.run(role, name=name, spec={"mine": name})
            assert result.succeeded and result.way == "warm", result.failures
