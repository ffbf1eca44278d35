"""What of a play is pure, what is not and why; and that no name of ansible-core is left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rolecall_base.purity import Nature, Used, asks_elsewhere, full_name, purity_of

_PURE, _ACTING, _VARYING = Nature.PURE, Nature.ACTING, Nature.VARYING


@pytest.mark.parametrize(
    ("used", "name", "nature"),
    [
        (Used.ACTION, "set_fact", _PURE),
        (Used.ACTION, "ansible.builtin.assert", _PURE),
        (Used.ACTION, "ansible.legacy.debug", _PURE),
        (Used.ACTION, "include_vars", _PURE),
        (Used.ACTION, "template", _ACTING),
        (Used.ACTION, "command", _ACTING),
        (Used.ACTION, "gather_facts", _VARYING),
        (Used.MODULE, "k8s", _PURE),
        (Used.MODULE, "kubernetes.core.k8s_info", _PURE),
        (Used.MODULE, "community.kubernetes.k8s_facts", _PURE),
        (Used.MODULE, "kubernetes.core.k8s_exec", _ACTING),
        (Used.MODULE, "kubernetes.core.helm", _ACTING),
        (Used.MODULE, "kubernetes.core.k8s_log", _VARYING),
        (Used.MODULE, "operator_sdk.util.k8s_status", _PURE),
        (Used.MODULE, "operator_sdk.util.osdk_metric", _ACTING),
        (Used.MODULE, "ansible.builtin.stat", _VARYING),
        (Used.MODULE, "my.own.module", _ACTING),
        (Used.FILTER, "default", _PURE),
        (Used.FILTER, "to_uuid", _PURE),
        (Used.FILTER, "random", _VARYING),
        (Used.FILTER, "password_hash", _VARYING),
        (Used.FILTER, "rolecall.operator.is_ready", _PURE),
        (Used.FILTER, "community.general.random_mac", _ACTING),
        (Used.TEST, "defined", _PURE),
        (Used.TEST, "exists", _VARYING),
        (Used.LOOKUP, "file", _PURE),
        (Used.LOOKUP, "kubernetes.core.k8s", _PURE),
        (Used.LOOKUP, "env", _VARYING),
        (Used.LOOKUP, "pipe", _ACTING),
        (Used.LOOKUP, "password", _ACTING),
        (Used.FUNCTION, "now", _VARYING),
        (Used.FUNCTION, "query", _PURE),
        (Used.FUNCTION, "anything_else", _ACTING),
    ],
)
def test_each_family_is_distinguished(used: Used, name: str, nature: Nature) -> None:
    purity = purity_of(used, name)

    assert purity.nature is nature
    assert purity.is_pure == (not purity.reason)


def test_what_reads_files_says_so() -> None:
    assert purity_of(Used.LOOKUP, "file").reads_files
    assert purity_of(Used.ACTION, "kubernetes.core.k8s").reads_files
    assert not purity_of(Used.ACTION, "set_fact").reads_files


def test_short_and_moved_names_are_made_full() -> None:
    assert full_name("debug") == "ansible.builtin.debug"
    assert full_name("ansible.legacy.debug") == "ansible.builtin.debug"
    assert full_name("k8s") == "kubernetes.core.k8s"
    assert full_name("ansible.builtin.k8s_facts") == "kubernetes.core.k8s_info"
    assert full_name("my.own.debug") == "my.own.debug"


def test_an_argument_that_leads_to_another_cluster_is_found() -> None:
    assert asks_elsewhere(["kind", "name", "host"]) == "host"
    assert asks_elsewhere(["kind", "name"]) == ""


def test_every_plugin_of_ansible_core_was_judged() -> None:
    names = _names_of_ansible_core()

    unjudged = [
        f"{used.value} {name}"
        for used, its in names.items()
        for name in its
        if purity_of(used, name).reason == "is not known to be pure"
    ]

    assert unjudged == []
    assert all(len(its) > 15 for its in names.values())


def test_it_needs_nothing_of_ansible() -> None:
    code = "import rolecall_base.purity, sys; print([m for m in sys.modules if m[:7] == 'ansible'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


# Started by others alone, and never named by a task.
_NO_TASKS = {"async_wrapper", "__init__"}


def _names_of_ansible_core() -> dict[Used, list[str]]:
    import ansible  # noqa: PLC0415 - for its folder
    from jinja2.filters import FILTERS  # noqa: PLC0415
    from jinja2.tests import TESTS  # noqa: PLC0415

    folder = Path(str(ansible.__file__)).parent

    def stems(below: str, ending: str) -> set[str]:
        return {path.stem for path in (folder / below).glob(f"*{ending}")} - _NO_TASKS

    return {
        Used.MODULE: sorted(stems("modules", ".py")),
        Used.ACTION: sorted(stems("plugins/action", ".py")),
        Used.LOOKUP: sorted(stems("plugins/lookup", ".py")),
        Used.FILTER: sorted(stems("plugins/filter", ".yml") | set(FILTERS)),
        Used.TEST: sorted(stems("plugins/test", ".yml") | set(TESTS)),
    }
