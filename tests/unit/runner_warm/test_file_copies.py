"""Each caller that loads a file gets data of its own, as from Ansible's copies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing import dataloader
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import VaultLib, VaultSecret

from rolecall_warm.hooks.file_copies import FileCopies

try:
    from ansible.module_utils._internal._datatag import AnsibleTagHelper

    TAGS_OF: Callable[[str], Any] = AnsibleTagHelper.tags
except ImportError:  # ansible-core 2.18

    def TAGS_OF(_text: str) -> Any:  # noqa: N802
        return None


TEXT = "a: &one [1, {b: x}]\nc: *one\n"
SECRET = [("default", VaultSecret(b"secret"))]


class Loading:
    """A loader of Ansible's, with the stand-ins in front of it; `copied` is what was copied."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = folder / "main.yml"
        self.path.write_text(TEXT)
        self.loader = DataLoader()
        self.copies = FileCopies(TAGS_OF)
        self.parsed = 0
        self._load = DataLoader.load
        self._load_from_file = DataLoader.load_from_file
        monkeypatch.setattr(dataloader, "copy", self.copies)
        monkeypatch.setattr(DataLoader, "load", self._loaded)

    def load(self, **how: Any) -> Any:
        return self.copies.load_from_file(self._load_from_file, self.loader, str(self.path), **how)

    def _loaded(self, data: Any, **how: Any) -> Any:
        return self.copies.load(self._counted, self.loader, data, **how)

    def _counted(self, loader: Any, data: Any, **how: Any) -> Any:
        self.parsed += 1
        return self._load(loader, data, **how)


@pytest.fixture
def loading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loading:
    return Loading(tmp_path, monkeypatch)


def test_what_one_changes_another_does_not_see(loading: Loading) -> None:
    for _ in range(3):
        data = loading.load()
        assert data == {"a": [1, {"b": "x"}], "c": [1, {"b": "x"}]}
        assert data["a"] is data["c"]  # an alias is one thing, as in a copy
        data["a"].append("changed")
        data["c"][1]["b"] = "changed"


def test_file_that_changed_on_disk_is_as_it_was_first_loaded(loading: Loading) -> None:
    first = loading.load()
    loading.path.write_text("changed: true\n")
    assert loading.load() == first
    assert loading.load(cache="none") == {"changed": True}
    assert loading.load() == first


def test_callers_without_a_copy_share_the_loaded_data(loading: Loading) -> None:
    mine = loading.load()
    shared = loading.load(unsafe=True)
    shared["c"] = 2
    assert loading.load(unsafe=True) is shared
    assert loading.load() == {**mine, "c": 2}
    assert loading.load() is not shared


def test_file_that_is_shared_from_the_start_stays_so(loading: Loading) -> None:
    shared = loading.load(unsafe=True)
    shared["c"] = 2
    assert loading.load()["c"] == 2
    assert loading.parsed == 1


def test_encrypted_file_is_copied_as_ansible_does(loading: Loading) -> None:
    loading.loader.set_vault_secrets(SECRET)
    loading.path.write_bytes(VaultLib(SECRET).encrypt(TEXT))
    first = loading.load()
    first["c"] = 2
    second = loading.load()
    assert second["c"] == [1, {"b": "x"}]
    assert TAGS_OF(second) == TAGS_OF(first)
    assert loading.parsed == 1


def test_other_loader_loads_anew(loading: Loading) -> None:
    loading.load()
    loading.path.write_text("changed: true\n")
    loading.loader = DataLoader()
    assert loading.load() == {"changed": True}


def test_other_functions_of_copy_are_as_they_were(loading: Loading) -> None:
    assert loading.copies.copy([1]) == [1]
    assert loading.copies.deepcopy({"a": [1]}) == {"a": [1]}
