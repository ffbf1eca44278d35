"""What a machine lacks is one line, and says how to get it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.errors import InputError
from rolecall_dev.localcluster import what_is_missing
from rolecall_dev.localcluster.real import probe
from rolecall_dev.localcluster.real.cgroups import Cgroups


def test_missing_packages_are_named_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(probe, "SEARCH", str(tmp_path))
    monkeypatch.setattr(probe, "CNI_FOLDERS", (tmp_path,))
    lack = what_is_missing()
    assert "apt-get install --no-install-recommends containerd containernetworking-plugins" in lack
    assert "\n" not in lack
    with pytest.raises(InputError, match="packages that are not installed"):
        probe.require_real()


def test_user_other_than_root_gets_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "missing_packages", list)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "sudo" in what_is_missing()


def test_read_only_cgroups_are_distinguished_from_missing_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(probe, "missing_packages", list)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(probe, "_kernel_lacks", str)
    assert "has none" in what_is_missing(Cgroups(tmp_path))

    def refused(*_: object) -> None:
        raise PermissionError(30, "Read-only file system")

    monkeypatch.setattr(Cgroups, "make", refused)
    (tmp_path / "cgroup.controllers").write_text("cpu cpuset memory pids")
    assert "--cgroupns=host" in what_is_missing(Cgroups(tmp_path))
