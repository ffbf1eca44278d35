"""What the host found in ansible-core's own folders stands for a search, until a folder is added."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.plugins import loader as ansible_loader
from ansible.plugins.loader import PluginLoader

from rolecall_warm.hooks.own_plugins import OwnPlugins


class Kind:
    """A kind of plugins, searched with and without what was found before."""

    def __init__(self, configured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.own = OwnPlugins()
        self.searched = 0
        original = PluginLoader._find_plugin_legacy

        def find(loader: Any, *args: Any, **more: Any) -> Any:
            return self.own.find(original, loader, *args, **more)

        monkeypatch.setattr(PluginLoader, "_find_plugin_legacy", find)
        # Where Ansible looks last; needs its importer, which this process does without.
        monkeypatch.setattr(PluginLoader, "_find_fq_plugin", _find_nothing)
        os = SimpleNamespace(**vars(ansible_loader.os))
        os.listdir = self._listdir
        monkeypatch.setattr(ansible_loader, "os", os)
        self.loader = PluginLoader("TestKind", "ansible.plugins.inventory", [], "inventory_plugins")
        self.own.look([self.loader])
        self.loader._clear_caches()
        self.loader.config = [str(configured)]
        self.searched = 0

    def path(self, name: str) -> str:
        return Path(self.loader.find_plugin(name) or "nowhere").name

    def _listdir(self, path: Any) -> list[Any]:
        self.searched += 1
        return [type(path)(entry.name.encode()) for entry in Path(path.decode()).iterdir()]


@pytest.fixture
def kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kind:
    return Kind(tmp_path / "configured", monkeypatch)


def _find_nothing(_loader: Any, **how: Any) -> Any:
    return how["plugin_load_context"].nope("nothing")


def _write(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").touch()
    return folder


def test_plugin_of_ansibles_own_is_found_without_a_search(kind: Kind) -> None:
    assert kind.path("ini") == "ini.py"
    assert kind.path("missing") == "nowhere"
    assert kind.searched == 0


def test_plugin_of_a_configured_folder_goes_first(kind: Kind, tmp_path: Path) -> None:
    _write(tmp_path / "configured", "ini")
    assert kind.loader.find_plugin("ini") == str(tmp_path / "configured" / "ini.py")
    assert kind.path("yaml") == "yaml.py"


def test_plugin_of_a_folder_that_is_added_later_goes_first(kind: Kind, tmp_path: Path) -> None:
    assert kind.path("ini") == "ini.py"
    kind.loader.add_directory(str(_write(tmp_path / "role", "ini")))
    assert kind.loader.find_plugin("ini") == str(tmp_path / "role" / "ini.py")
    assert kind.path("yaml") == "yaml.py"
    assert kind.searched > 0


def test_configured_folder_that_comes_later_has_what_ansible_lacks(
    kind: Kind, tmp_path: Path
) -> None:
    assert kind.path("mine") == "nowhere"
    _write(tmp_path / "configured", "mine")
    assert kind.path("mine") == "mine.py"
