"""Building, with a `go` that is a shell script: what counts is what is in the cache afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rolecall.errors import InputError
from rolecall_dev.localcluster import BuildStep, build_programs, find_binaries, missing_programs
from rolecall_dev.localcluster.programs import NEEDED, PROGRAMS, cached_path
from tests.fixtures.eventually import eventually

# Writes its arguments down, and makes the file after `-o`, or fails as the test says.
GO = """#!/bin/sh
if [ "$1" = env ]; then
  if [ "$2" = GOVERSION ]; then echo go1.99.1; else echo "$FAKE_GO/cache"; fi
  exit 0
fi
if [ -f "$FAKE_GO/words" ]; then cat "$FAKE_GO/words" >&2; exit 1; fi
while [ "$1" != -o ]; do shift; done
echo "$3" >> "$FAKE_GO/built"
echo half > "$2"
echo whole > "$2"
chmod +x "$2"
"""


class Listener:
    """Records what a build reported."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.begun: list[BuildStep] = []
        self.finished: list[str] = []

    def say(self, message: str) -> None:
        self.said.append(message)

    def begin(self, step: BuildStep) -> None:
        self.begun.append(step)

    def tick(self, step: BuildStep, elapsed_s: float) -> None:
        pass

    def finish(self, step: BuildStep, elapsed_s: float) -> None:
        self.finished.append(step.program.name)


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the fake."""
    folder = tmp_path / "go"
    (folder / "bin").mkdir(parents=True)
    (folder / "cache").mkdir()
    (folder / "bin" / "go").write_text(GO)
    (folder / "bin" / "go").chmod(0o755)
    monkeypatch.setenv("FAKE_GO", str(folder))
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    return folder


def test_everything_is_built_once(go: Path, tmp_path: Path) -> None:
    cache, listener = tmp_path / "cache", Listener()
    build_programs(listener, cache)
    assert listener.finished == [program.name for program in PROGRAMS]
    assert find_binaries(cache=cache, environment={}).missing == ()
    again = Listener()
    build_programs(again, cache)
    assert again.begun == []


def test_estimate_of_what_is_left_follows_the_pace_of_the_machine(go: Path, tmp_path: Path) -> None:
    listener = Listener()
    build_programs(listener, tmp_path / "cache")
    first, second, *_ = [step.left_s for step in listener.begun]
    assert first == sum(program.cold_s for program in PROGRAMS)
    assert second < first / 10  # the first took no time at all


def test_what_others_provide_is_not_built(
    go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assets = tmp_path / "assets"
    assets.mkdir()
    (assets / "etcd").write_text("#!/bin/sh\n")
    (assets / "etcd").chmod(0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    assert "etcd" not in [program.name for program in missing_programs(tmp_path / "cache")]


@pytest.mark.parametrize(
    ("words", "cause", "hint"),
    [
        ("write /x/y: no space left on device", "the disk was full", "it continues"),
        ("Get x: dial tcp: lookup proxy: no such host", "could not be downloaded", "GOPROXY"),
        ("undefined: someone.Broke", "undefined: someone.Broke", ""),
    ],
)
def test_failure_names_its_cause_and_leaves_no_program(
    go: Path, tmp_path: Path, words: str, cause: str, hint: str
) -> None:
    (go / "words").write_text(words)
    with pytest.raises(InputError) as caught:
        build_programs(Listener(), tmp_path / "cache")
    assert cause in caught.value.message
    assert hint in caught.value.hint
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert files == []


def test_interrupted_build_goes_on_where_it_was(go: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    class Interrupted(Listener):
        def finish(self, step: BuildStep, elapsed_s: float) -> None:
            super().finish(step, elapsed_s)
            if step.number == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_programs(Interrupted(), cache)
    listener = Listener()
    build_programs(listener, cache)
    assert listener.finished == [program.name for program in PROGRAMS[2:]]


def test_file_of_a_build_that_was_killed_is_removed(go: Path, tmp_path: Path) -> None:
    target = cached_path(PROGRAMS[0], tmp_path / "cache")
    target.parent.mkdir(parents=True)
    (target.parent / f".{target.name}.12345.partial").write_text("half")
    build_programs(Listener(), tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("*.partial"))
    assert target.read_text() == "whole\n"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_command_ends_the_compiler_with_it(
    go: Path, tmp_path: Path, number: signal.Signals
) -> None:
    (go / "bin" / "go").write_text(
        GO.replace("echo half", 'echo $$ > "$FAKE_GO/pid"; exec sleep 60 #')
    )
    command = [str(Path(sys.executable).parent / "rolecall"), "cluster", "build"]
    environment = os.environ | {"ROLECALL_CACHE": str(tmp_path / "cache")}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        compiler = int(eventually((go / "pid").read_text, ignoring=(OSError,)))
        process.send_signal(number)
        assert process.wait(timeout=60) == 130
    eventually(lambda: not Path(f"/proc/{compiler}").exists())
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_two_builds_at_once_build_everything_once(go: Path, tmp_path: Path) -> None:
    cache, listeners = tmp_path / "cache", [Listener(), Listener()]
    threads = [threading.Thread(target=build_programs, args=(each, cache)) for each in listeners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len((go / "built").read_text().splitlines()) == len(PROGRAMS)
    assert sum(len(each.finished) for each in listeners) == len(PROGRAMS)


def test_full_disk_is_noticed_before_the_build(
    go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecall_dev.localcluster.build._LEAST_GB", 1e9)
    with pytest.raises(InputError, match="GB of free disk") as caught:
        build_programs(Listener(), tmp_path / "cache")
    assert "ROLECALL_CACHE" in caught.value.hint
    assert not (go / "built").exists()


def test_cache_that_cannot_be_written_is_named(go: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    with pytest.raises(InputError, match="could not be written"):
        build_programs(Listener(), tmp_path / "cache")


def test_all_that_a_cluster_needs_is_built() -> None:
    assert set(NEEDED) <= {program.name for program in PROGRAMS}
