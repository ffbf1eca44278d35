"""What a warm run was seen to use: each family of what is not pure, and roles that are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.play.warm.runs import KeptHosts, Tasks, workshop

_COLLECTIONS = Path(__file__).parents[3] / ".collections"
_K8S_INFO = {"kubernetes.core.k8s_info": {"kind": "ConfigMap", "host": "https://elsewhere:1"}}


def debug(text: str) -> dict[str, Any]:
    return {"ansible.builtin.debug": {"msg": text}}


PURE: dict[str, Tasks] = {
    "facts that are set": [
        {"ansible.builtin.set_fact": {"x": "{{ ['b', 'a'] | sort | first | to_uuid }}"}},
        {"ansible.builtin.assert": {"that": ["x is defined", "x is not none"]}},
    ],
    "files of the role": [
        debug("{{ lookup('file', 'in_role.txt') }}"),
        debug("{{ lookup('template', 'greeting.j2') }}"),
        {"ansible.builtin.include_vars": {"file": "more.yml"}},
        {"ansible.builtin.include_tasks": {"file": "again.yml"}},
        debug("{{ lookup('first_found', {'files': ['no.txt', 'in_role.txt'], 'paths': ['files']}) }}"),
        {**debug("{{ item }}"), "with_fileglob": ["*.txt"]},
    ],
    "loops, blocks and rescues": [
        {"block": [{**debug("{{ item }}"), "loop": [1, 2]}, {"ansible.builtin.fail": {}}],
         "rescue": [debug("{{ ansible_failed_task.name | default('') }}")]},
        {**debug("{{ item }}"), "with_dict": {"a": 1}},
    ],
}  # fmt: skip

IMPURE: dict[str, tuple[dict[str, Any], str]] = {
    "a command": ({"ansible.builtin.command": "true"}, "action `command` runs a program"),
    "a file that is written": (
        {"ansible.builtin.copy": {"content": "x", "dest": "/tmp/rolecall-x"}},
        "action `copy` writes files",
    ),
    "facts of the machine": ({"ansible.builtin.setup": {}}, "module `setup` gathers facts"),
    "a look at the machine": (
        {"ansible.builtin.stat": {"path": "/etc"}},
        "module `stat` looks at files of the machine",
    ),
    "the time": (debug("{{ now().year }}"), "function `now` reads the clock"),
    "the time, by a date of a filter": (
        debug("{{ ('2020-01-01' | to_datetime('%Y-%m-%d')).now() }}"),
        "`now` of a date reads the clock",
    ),
    "the day, by a date of YAML": (
        debug("{{ ('x: 2020-01-01' | from_yaml).x.today() }}"),
        "`today` of a date reads the clock",
    ),
    "words by chance": (debug("{{ lipsum(1) }}"), "function `lipsum` answers by chance"),
    "a number by chance": (debug("{{ 10 | random }}"), "filter `random` answers by chance"),
    "chance by another filter": (
        debug("{{ [[1, 2]] | map('shuffle') | list }}"),
        "filter `shuffle` answers by chance",
    ),
    "a salt": (debug("{{ 'x' | password_hash }}"), "filter `password_hash` takes a salt by chance"),
    "a test of files": (
        {**debug("x"), "when": "'/etc' is exists"},
        "test `exists` looks at files of the machine",
    ),
    "a program in a lookup": (
        debug("{{ lookup('pipe', 'true') }}"),
        "lookup `pipe` runs a program",
    ),
    "a choice by chance": (
        {**debug("{{ item }}"), "with_random_choice": [1, 2]},
        "lookup `random_choice` answers by chance",
    ),
    "a file of elsewhere": (
        debug("{{ lookup('file', '/etc/hostname') }}"),
        "it looks for `/etc/hostname`, which is not of the project",
    ),
    "a file that may be elsewhere": (
        debug("{{ lookup('first_found', ['/opt/nowhere', 'in_role.txt']) }}"),
        "it looks for `/opt/nowhere`, which is not of the project",
    ),
    "a hidden file": (
        debug("{{ lookup('file', '.hidden') }}"),
        "which is not of the project",
    ),
    "variables of elsewhere": (
        {"ansible.builtin.include_vars": {"file": "{{ role_path }}/../../outside.yml"}},
        "which is not of the project",
    ),
    "a filter of the project": (debug("{{ 1 | ours }}"), "filter `ours` is the project's own"),
    "a module of the project": ({"ours": {}}, "module `ours` is not one that is known to be pure"),
    "a job in the background": (
        {"ansible.builtin.ping": {}, "async": 5, "poll": 1},
        "`async` leaves a job in the background",
    ),
    "another host": (
        {**debug("x"), "delegate_to": "elsewhere.example.com"},
        "the task runs on another machine",
    ),
    "another cluster": (
        {**_K8S_INFO, "failed_when": False},
        "`kubernetes.core.k8s_info` with `host` may ask another API server",
    ),
    "a template's time": (
        debug("{{ lookup('template', 'dated.j2') }}"),
        "`template_run_date` depends on a file or the time",
    ),
}

_FILTER = "class FilterModule:\n    def filters(self):\n        return {'ours': str}\n"
_MODULE = "from ansible.module_utils.basic import AnsibleModule\nAnsibleModule({}).exit_json()\n"
_FILES = {
    "files__in_role.txt": "hello",
    "files__.hidden": "hello",
    "templates__greeting.j2": "{{ 'hello' | upper }}",
    "templates__dated.j2": "{{ template_run_date }}",
    "vars__more.yml": "x: 1",
    "tasks__again.yml": "[{ansible.builtin.debug: {msg: again}}]",
    "filter_plugins__ours_py": _FILTER,
    "library__ours_py": _MODULE,
    "meta__main.yml": "galaxy_info: {}",
}


async def test_bytecode_that_python_writes_beside_a_filter_is_not_impure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    async with workshop(tmp_path) as shop:
        result = await shop.run(shop.role("pure", PURE["facts that are set"], **_FILES))
    assert (result.way, result.impure) == ("warm", "")


@pytest.mark.parametrize("what", PURE)
async def test_nothing_impure_is_seen_in(tmp_path: Path, kept: KeptHosts, what: str) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        role = shop.role("pure", PURE[what], **_FILES)

        for _ in range(2):
            result = await shop.run(role)

            assert result.way == "warm"
            assert result.succeeded, result.failures
            assert result.impure == ""


@pytest.mark.nightly
async def test_each_thing_that_is_not_pure_is_seen_with_its_task(tmp_path: Path) -> None:
    (tmp_path / "outside.yml").write_text("y: 2")
    async with workshop(tmp_path, collections_path=str(_COLLECTIONS)) as shop:
        for number, (what, (task, reported)) in enumerate(IMPURE.items()):
            role = shop.role(f"role{number}", [debug("before"), {"name": what, **task}], **_FILES)

            result = await shop.run(role)

            assert result.way == "warm", what
            assert reported in result.impure, what
            assert result.impure.startswith(f"`roles/role{number}/tasks/main.yml:"), what


async def test_variables_of_the_environment_are_reported_by_name(
    tmp_path: Path, kept: KeptHosts
) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        role = shop.role("asks", [debug("{{ lookup('env', 'HOME', 'SOMETHING') }}")])

        result = await shop.run(role)

        assert result.impure == ""
        assert result.variables == {"HOME", "SOMETHING"}


async def test_first_reason_is_reported(tmp_path: Path, kept: KeptHosts) -> None:
    async with workshop(tmp_path, kept=kept) as shop:
        role = shop.role("twice", [debug("{{ now() }}"), {"ansible.builtin.command": "true"}])

        result = await shop.run(role)

        assert result.impure == "`roles/twice/tasks/main.yml:1`: function `now` reads the clock"
