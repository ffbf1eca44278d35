"""Runs share a host exactly when Ansible would read the same configuration for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.runner.warm.fingerprint import fingerprint_of
from rolecall_base.variables import PER_RUN_VARIABLES

_ENVIRONMENT = {"PATH": "/bin", "HOME": "/nowhere", "ANSIBLE_FORKS": "5"}


@pytest.mark.parametrize("name", sorted(PER_RUN_VARIABLES))
def test_what_differs_by_design_is_left_out(tmp_path: Path, name: str) -> None:
    one = fingerprint_of({**_ENVIRONMENT, name: "one"}, tmp_path)
    two = fingerprint_of({**_ENVIRONMENT, name: "two"}, tmp_path)
    assert one == two


@pytest.mark.parametrize("name", ["ANSIBLE_FORKS", "PYTHONPATH", "LANG", "ANYTHING"])
def test_any_other_variable_makes_another_host(tmp_path: Path, name: str) -> None:
    one = fingerprint_of({**_ENVIRONMENT, name: "one"}, tmp_path)
    two = fingerprint_of({**_ENVIRONMENT, name: "two"}, tmp_path)
    assert one.digest != two.digest


def test_configuration_in_the_folder_counts(tmp_path: Path) -> None:
    before = fingerprint_of(_ENVIRONMENT, tmp_path)
    config = tmp_path / "ansible.cfg"
    config.write_text("[defaults]\n")
    after = fingerprint_of(_ENVIRONMENT, tmp_path)
    assert (before.config_file, after.config_file) == ("", str(config))
    assert before.digest != after.digest
    config.write_text("[defaults]\nforks = 6\n")
    assert fingerprint_of(_ENVIRONMENT, tmp_path).digest != after.digest


def test_configuration_in_a_folder_open_to_all_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "ansible.cfg").write_text("[defaults]\n")
    tmp_path.chmod(0o777)
    assert fingerprint_of(_ENVIRONMENT, tmp_path).config_file == ""


def test_named_configuration_wins_over_the_folder_and_home(tmp_path: Path) -> None:
    (tmp_path / "ansible.cfg").write_text("")
    (tmp_path / ".ansible.cfg").write_text("")
    named = tmp_path / "named.cfg"
    named.write_text("")
    home = {**_ENVIRONMENT, "HOME": str(tmp_path)}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert fingerprint_of(home, elsewhere).config_file == str(tmp_path / ".ansible.cfg")
    environment = {**home, "ANSIBLE_CONFIG": str(named)}
    assert fingerprint_of(environment, tmp_path).config_file == str(named)


def test_relative_folder_in_a_setting_is_another_one_elsewhere(tmp_path: Path) -> None:
    places = [tmp_path / "one", tmp_path / "two"]
    for place in places:
        place.mkdir()
    for environment in ({"ANSIBLE_LIBRARY": "library"}, {"ANSIBLE_LIBRARY": "/a:{{CWD}}/b"}):
        one, two = (fingerprint_of({**_ENVIRONMENT, **environment}, place) for place in places)
        assert one.digest != two.digest
    one, two = (fingerprint_of({**_ENVIRONMENT, "ANSIBLE_LIBRARY": "/a:~/b"}, at) for at in places)
    assert one.digest == two.digest
