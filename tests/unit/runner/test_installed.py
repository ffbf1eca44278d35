"""What is said of an environment: which way runs go in it, and what is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from rolecall.errors import InputError
from rolecall.runner import find_collection, installed, require_installed, version_of, why_stock


class Environment:
    """Distributions that an environment has; the warm host knows all of ansible-core."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, host: Path) -> None:
        self.host = host
        self.versions = {"ansible-core": "2.19.14", "kubernetes": "37.0.2"}
        self.monkeypatch = monkeypatch
        monkeypatch.setattr(metadata, "version", self._version)
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setattr(installed, "warm_host", lambda: host)
        self.find("print([])")

    def find(self, program: str) -> None:
        """Let the warm host answer so what it does not know."""
        self.host.write_text(program)

    def _version(self, name: str) -> str:
        if name not in self.versions:
            raise metadata.PackageNotFoundError(name)
        return self.versions[name]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Environment:
    return Environment(monkeypatch, tmp_path / "host.py")


def test_whole_environment_is_warm_and_lacks_nothing(environment: Environment) -> None:
    assert require_installed() == []
    assert why_stock() == ""


def test_missing_ansible_is_one_line_with_the_way_out(environment: Environment) -> None:
    del environment.versions["ansible-core"]
    with pytest.raises(InputError, match="ansible-core is not installed for") as caught:
        require_installed()
    assert str(caught.value).count("\n") == 1
    assert "pip install ansible-core" in caught.value.hint
    assert why_stock() == "ansible-core is not installed"


def test_old_ansible_is_one_line_with_the_way_out(environment: Environment) -> None:
    environment.versions["ansible-core"] = "2.17.14"
    with pytest.raises(InputError, match=r"2\.17\.14 is too old: plays need 2\.18 or newer") as it:
        require_installed()
    assert "install --upgrade ansible-core" in it.value.hint
    assert why_stock() == "ansible-core 2.17.14 is older than 2.18"


@pytest.mark.parametrize("version", ["2.18.0", "2.19.0rc1", "2.22.0.dev0", "3.0.0"])
def test_no_newer_ansible_is_refused(environment: Environment, version: str) -> None:
    environment.versions["ansible-core"] = version
    assert require_installed() == []


def test_newer_ansible_than_any_known_is_called_that(environment: Environment) -> None:
    environment.versions["ansible-core"] = "2.22.0"
    environment.find('print(\'["`a:b` is gone", "`c:d` is unknown (12)"]\')')
    assert why_stock() == (
        "ansible-core 2.22.0, newer than any that rolecall was tested with: `a:b` is gone and 1 more;"
        " the operator tests itself with it at its start, and then runs plays warm"
    )


def test_hooks_that_cannot_even_look_are_a_reason(environment: Environment) -> None:
    environment.find("raise ImportError('cannot import name `_RawTaskResult`')")
    words = "looking at it failed: ImportError: cannot import name `_RawTaskResult`"
    assert words in why_stock()


def test_missing_warm_host_is_a_reason_that_names_the_way_out(environment: Environment) -> None:
    environment.monkeypatch.setattr(installed, "warm_host", lambda: None)
    assert why_stock().startswith("rolecall-warm is not installed: `")
    assert why_stock().endswith("install rolecall-warm` installs it")


def test_question_to_the_warm_host_leaves_ansible_out_of_this_process() -> None:
    code = (
        "import sys; from rolecall.runner import why_stock; why_stock()\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('ansible', 'rolecall_warm')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_missing_client_is_a_warning_that_names_the_way_out(environment: Environment) -> None:
    del environment.versions["kubernetes"]
    (warning,) = require_installed()
    assert "the Kubernetes client is not installed" in warning
    assert "install kubernetes`" in warning
    assert why_stock() == "the Kubernetes client is not installed"


def test_other_systems_are_named(environment: Environment) -> None:
    environment.monkeypatch.setattr(sys, "platform", "darwin")
    assert why_stock() == "warm runs need Linux; this is darwin"


def test_half_installed_distribution_counts_as_missing(environment: Environment) -> None:
    environment.versions["ansible-core"] = None  # type: ignore[assignment]
    assert version_of("ansible-core") == ""


def test_collection_is_looked_up_where_plays_find_it(tmp_path: Path) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    project.mkdir()
    home = {"HOME": str(tmp_path)}
    name = "test.found_nowhere_else"
    assert find_collection(name, home, project) is None
    beside = project / ".collections/ansible_collections/test/found_nowhere_else"
    beside.mkdir(parents=True)
    assert find_collection(name, home, project) == ("(no MANIFEST.json)", beside)
    named = other / "ansible_collections/test/found_nowhere_else"
    named.mkdir(parents=True)
    (named / "MANIFEST.json").write_text(json.dumps({"collection_info": {"version": "6.2.0"}}))
    said = {**home, "ANSIBLE_COLLECTIONS_PATH": str(other)}
    assert find_collection(name, said, project) == ("6.2.0", named)


@pytest.mark.parametrize(("has_pip", "words"), [(True, "-m pip"), (False, "uv pip install")])
def test_way_out_uses_an_installer_that_is_there(
    environment: Environment, has_pip: bool, words: str
) -> None:
    environment.monkeypatch.setattr(installed, "_has_pip", lambda: has_pip)
    del environment.versions["kubernetes"]
    assert words in require_installed()[0]
