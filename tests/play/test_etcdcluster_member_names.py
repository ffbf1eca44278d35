"""Which member of an etcd cluster the role asks first, and which one it reports as not healthy.

Both are expressions in the role's `vars`, so a play evaluates them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from rolecall.watches import Play
from tests.play.plays import Workspace, play

_ROLE = Path(__file__).parents[2] / "roles" / "etcdcluster"
_ASKED, _REPORTED = "asked", "reported"


def _pod(name: str, is_ready: bool) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": str(is_ready)}]
    return {"metadata": {"name": name}, "status": {"phase": "Running", "conditions": conditions}}


def _member(name: str, version: str = "") -> dict[str, Any]:
    return {"name": name, "version": version, "healthy": bool(version), "started": True}


_PODS = [_pod("db-0", True), _pod("db-1", False), _pod("db-2", True)]
_WAITS_FOR_FIRST = {"do": "wait", "member": _member("db-0")}
_CASES: dict[str, dict[str, Any]] = {
    "no member answers by its DNS name": {
        "_etcdcluster_members": [_member("db-0"), _member("db-1"), _member("db-2")],
        "_etcdcluster_step": _WAITS_FOR_FIRST,
    },
    "no member answers, and one has no pod": {
        "_etcdcluster_members": [_member("db-0"), _member("db-2"), _member("db-3")],
        "_etcdcluster_step": _WAITS_FOR_FIRST,
    },
    "one with a ready pod does not answer": {
        "_etcdcluster_members": [_member("db-0"), _member("db-1", "3.5.1")],
        "_etcdcluster_step": _WAITS_FOR_FIRST,
    },
    "it has no ready pod itself": {
        "_etcdcluster_members": [_member("db-1"), _member("db-3")],
        "_etcdcluster_step": {"do": "wait", "member": _member("db-3")},
    },
    "nothing waits": {
        "_etcdcluster_members": [_member("db-0", "3.5.1")],
        "_etcdcluster_step": {"do": "nothing", "member": {}},
    },
}


def test_member_without_a_ready_pod_is_reported_and_asked_last(workspace: Workspace) -> None:
    (workspace.folder / "filter_plugins").symlink_to(_ROLE / "filter_plugins")
    playbook = workspace.folder / "names.yml"
    playbook.write_text(yaml.safe_dump([_play()]))
    played = play(workspace, Play(playbook, is_role=False))
    assert played.messages(_ASKED) == [["db-2", "db-0", "db-1"]]
    assert played.messages(_REPORTED) == ["db-1", "db-3", "db-0", "db-3", ""]


def _play() -> dict[str, Any]:
    facts = {
        "_etcdcluster_pods": {"resources": _PODS},
        "_etcdcluster_reported_before": [{"name": "db-0", "healthy": False}],
    }
    # All of them, as Ansible loads them: a later file may define a variable of an earlier one again.
    files = [str(file) for file in sorted((_ROLE / "vars" / "main").glob("*.yml"))]
    reported = "{{ _etcdcluster_step_reported.member.name | default('') }}"
    return {
        "hosts": "localhost",
        "gather_facts": False,
        "vars_files": files,
        "tasks": [
            {
                "name": _ASKED,
                "ansible.builtin.debug": {"msg": "{{ _etcdcluster_ask_order }}"},
                "vars": facts,
            },
            *(
                {
                    "name": _REPORTED,
                    "ansible.builtin.debug": {"msg": reported},
                    "vars": facts | case,
                }
                for case in _CASES.values()
            ),
        ],
    }
