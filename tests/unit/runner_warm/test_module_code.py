"""Compiled modules are kept by content: a changed file is another module."""

from __future__ import annotations

from pathlib import Path

from rolecall_warm.hooks.module_code import CompiledModules


def _shelf(tmp_path: Path) -> CompiledModules:
    library = tmp_path / "site" / "ansible" / "__init__.py"
    return CompiledModules(lambda source: b"module_utils" in source, str(library))


def _write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_changed_file_is_compiled_again(tmp_path: Path) -> None:
    shelf = _shelf(tmp_path)
    path = _write(tmp_path / "library" / "m.py", "#!/usr/bin/python\n# module_utils\na = 1\n")
    first = shelf.take(path)
    assert first is not None and first is shelf.take(path)
    _write(tmp_path / "library" / "m.py", "#!/usr/bin/python\n# module_utils\na = 1 + 1\n")
    assert shelf.take(path) is not first


def test_names_are_those_that_a_package_would_use(tmp_path: Path) -> None:
    shelf = _shelf(tmp_path)
    text = "# module_utils\n"
    own = shelf.take(_write(tmp_path / "library" / "mine.py", text))
    collected = shelf.take(
        _write(tmp_path / "ansible_collections/some/body/plugins/modules/sub/m.py", text)
    )
    core = shelf.take(_write(tmp_path / "site/ansible/modules/ping.py", text))
    fake = shelf.take(_write(tmp_path / "other/ansible/modules/ping.py", text))
    assert own and collected and core and fake
    assert (own.full_name, own.import_name) == ("", "ansible.legacy.mine")
    assert collected.full_name == "some.body.sub.m"
    assert collected.import_name == "ansible_collections.some.body.plugins.modules.sub.m"
    assert core.full_name == "ansible.builtin.ping"
    assert fake.full_name == ""


def test_other_styles_and_broken_code_are_left_to_ansible(tmp_path: Path) -> None:
    shelf = _shelf(tmp_path)
    assert shelf.take(_write(tmp_path / "old", "#!/bin/sh\n")) is None
    assert shelf.take(_write(tmp_path / "broken.py", "# module_utils\ndef (\n")) is None


def test_module_that_may_respawn_says_so(tmp_path: Path) -> None:
    shelf = _shelf(tmp_path)
    text = "# module_utils\nrespawn_module('/usr/bin/python3')\n"
    code = shelf.take(_write(tmp_path / "r.py", text))
    assert code is not None and code.can_respawn
