"""The contract with ansible-core: fails loudly when what the hooks were written against has moved."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rolecall_warm.hooks import digests, seams
from rolecall_warm.hooks.sources import family_of, sources_of

_FOUND = digests.digests_of(sources_of(family_of(digests.version_of_core())))


@pytest.mark.parametrize("label", sorted(_FOUND))
def test_source_is_one_that_was_read(label: str) -> None:
    assert _FOUND[label] in digests.known_digests().get(label, {}), (
        f"{label} changed; read it, adapt the hook, then `tools/read_digests.py --add`"
    )


def test_nothing_is_unknown_of_the_ansible_core_at_hand() -> None:
    assert seams.check() == []


@pytest.mark.parametrize(
    ("version", "family"),
    [
        ("2.17.14", ""),
        ("2.18.0", "2.18"),
        ("2.19.14", "2.19"),
        ("2.20.0rc1", "2.19"),
        ("2.21.5", "2.21"),
        ("2.22.0.dev0", "2.21"),
        ("3.0.0", "2.21"),
    ],
)
def test_a_release_to_come_is_tried_with_the_newest_adapter(version: str, family: str) -> None:
    assert family_of(version) == family


def test_ansible_core_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seams, "version_of_core", lambda: "2.17.14")
    assert seams.check() == ["ansible-core 2.17.14 is older than 2.18"]


def test_no_ansible_core_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seams, "version_of_core", lambda: "")
    assert seams.check() == ["ansible-core is not installed"]


def _digest(source: str) -> str:
    return digests.digest_of(ast.parse(textwrap.dedent(source)).body[0])


_BEFORE = """
    def send(self, name: str, *items) -> None:
        '''Send it.'''
        for item in items:  # in order
            self.put(name, item)
"""


@pytest.mark.parametrize(
    "after",
    [
        _BEFORE.replace("in order", "one after the other"),
        _BEFORE.replace("Send it.", "Send each of them."),
        _BEFORE.replace("name: str", "name: object").replace("-> None", ""),
        _BEFORE.replace("'", '"').replace("        for", "\n\n        for"),
        _BEFORE.replace(
            "self.put(name, item)",
            "self.put(\n                name,\n                    item,\n            )",
        ),
    ],
)
def test_comments_docstrings_annotations_and_layout_do_not_change_a_digest(after: str) -> None:
    assert _digest(after) == _digest(_BEFORE)


@pytest.mark.parametrize(
    "after",
    [
        _BEFORE.replace("self.put(name, item)", "self.put(item, name)"),
        _BEFORE.replace("*items", "*items, loud=False"),
        _BEFORE.replace("in items", "in sorted(items)"),
        _BEFORE.replace("def send", "async def send"),
        _BEFORE.replace("self.put(name, item)", "self.put(name, -item)"),
    ],
)
def test_code_changes_a_digest(after: str) -> None:
    assert _digest(after) != _digest(_BEFORE)


def test_a_file_is_found_without_importing_its_package(tmp_path: Path) -> None:
    package = tmp_path / "outer" / "inner"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (package / "leaf.py").write_text("def f(): ...\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(tmp_path))
        assert digests.file_of("outer.inner.leaf") == package / "leaf.py"
        assert digests.file_of("outer.inner") == package / "__init__.py"
        assert digests.file_of("outer.gone") is None
        assert digests.file_of("nowhere.at.all") is None


COST_OF_CHECK = """
import resource, socket
from rolecall_warm import serve

def resident_kb():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() // 1024

engine, _other_side = socket.socketpair()
before = resident_kb()
serve._problems(engine)
print(resident_kb() - before)
"""


def test_looking_at_ansible_core_leaves_no_syntax_trees_in_the_host() -> None:
    said = subprocess.run(
        [sys.executable, "-c", COST_OF_CHECK], capture_output=True, text=True, check=True
    )
    assert int(said.stdout) < 6_000
