"""Libraries that runs had to import: the host holds what does no harm, and nothing else."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall_warm.ahead.noted_imports import import_noted
from rolecall_warm.hooks.import_notes import ImportNotes
from rolecall_warm.in_fork import Interrupted

HARMFUL = {
    "starts_thread": "import threading, time; threading.Thread(target=time.sleep, args=[60]).start()",
    "ends_process": "import os; os._exit(0)",
    "takes_signals": "import signal; signal.signal(signal.SIGTERM, lambda *_: None)",
    "moves_path": "import sys; sys.path.insert(0, '/nowhere')",
    "sets_environment": "import os; os.environ['OF_A_LIBRARY'] = 'x'",
    "fails_with_a_changed_path": "import sys; sys.path.insert(0, '/nowhere'); raise RuntimeError",
    "fails": "raise RuntimeError('never')",
}


class Host:
    """What a host has to learn with."""

    def __init__(self, folder: Path, engine: socket.socket, line: socket.socket) -> None:
        self.folder, self.engine, self.notes = folder, engine, ImportNotes()
        self._line = line

    def order(self) -> None:
        """Let the engine say something."""
        self._line.send(b"x")

    def library(self, name: str, text: str = "") -> str:
        """Write one; returns its name."""
        (self.folder / f"{name}.py").write_text(text)
        return name

    def learns(self, *names: str, folder: Path | None = None) -> set[str]:
        """Note these as imported by a run, learn, return what the host holds then."""
        noted = {name: str((folder or self.folder) / f"{name}.py") for name in names}
        (self.folder / "noted").write_text(json.dumps(noted) + "\n")
        import_noted(self.folder / "noted", self.notes, self.engine)
        return {name for name in names if name in sys.modules}


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """A host whose libraries are those of the test."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    ours, engines = socket.socketpair()
    with ours, engines:
        yield Host(tmp_path, ours, engines)
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_library_is_imported_and_never_news_again(host: Host) -> None:
    name = host.library("good_library")
    assert host.learns(name) == {name}
    assert not (host.folder / "noted").exists()


def test_host_that_holds_a_library_learns_nothing_from_a_run_that_imported_it_anew(
    host: Host,
) -> None:
    name = host.library("imported_anew")
    host.learns(name)
    noted = host.folder / "noted"
    noted.write_text(json.dumps({name: str(host.folder / f"{name}.py")}) + "\n")
    assert not import_noted(noted, host.notes, host.engine)
    assert not noted.exists()


@pytest.mark.parametrize("name", HARMFUL)
def test_library_that_does_harm_is_refused_for_good(host: Host, name: str) -> None:
    host.library(name, HARMFUL[name])
    good = host.library(f"before_{name}")
    assert host.learns(good, name) == {good}
    assert name in host.notes.refused
    host.library(name)
    assert host.learns(name) == set()


def test_thread_of_a_fork_hook_that_ends_meanwhile_hides_no_started_thread(host: Host) -> None:
    """OpenTelemetry starts one in each fork, which ends at once after a shutdown."""
    ended = threading.Event()
    hooks = [lambda: threading.Thread(target=ended.wait, daemon=True).start()]
    os.register_at_fork(after_in_child=lambda: hooks and hooks[0]())  # it cannot be taken back
    before = host.library("ends_it", "import threading; threading.ended.set()")
    after = host.library("starts_one", HARMFUL["starts_thread"])
    try:
        threading.ended = ended  # type: ignore[attr-defined] # where the library finds it
        assert host.learns(before, after) == {before}
    finally:
        hooks.clear()
        del threading.ended  # type: ignore[attr-defined]
    assert host.notes.refused == {after}


@pytest.mark.parametrize("name", HARMFUL)
def test_library_noted_after_one_that_does_harm_is_imported_when_noted_again(
    host: Host, name: str
) -> None:
    host.library(name, HARMFUL[name])
    good = host.library(f"after_{name}")
    host.learns(name, good)
    assert host.learns(good) == {good}
    assert host.notes.refused == {name}


def test_library_that_is_another_file_here_is_refused(host: Host, tmp_path: Path) -> None:
    name = host.library("same_name_elsewhere")
    assert host.learns(name, folder=tmp_path / "elsewhere") == set()


def test_order_comes_first(host: Host) -> None:
    name = host.library("slow_library", "import time; time.sleep(60)")
    host.order()
    with pytest.raises(Interrupted):
        host.learns(name)
    assert (host.folder / "noted").exists()
    assert name not in host.notes.refused


def test_notes_that_make_no_sense_are_nothing(host: Host) -> None:
    (host.folder / "noted").write_text("{not json\n")
    assert not import_noted(host.folder / "noted", host.notes, host.engine)
    assert not (host.folder / "noted").exists()
