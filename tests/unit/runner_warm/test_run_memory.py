"""What the tasks of a run share of kubernetes.core: asked anew whenever it might come out otherwise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.client import Configuration
from kubernetes.config import kube_config

from rolecall_warm.hooks.kept_state import process_state_kept
from rolecall_warm.hooks.kubeconfigs import read_kubeconfigs_fast
from rolecall_warm.hooks.run_memory import ClientSettings, Proxies, Versions, says_all

PLAIN = {"username": "reader", "password": "secret"}


class Login:
    """Reads a kubeconfig as the collection does, and counts how often."""

    def __init__(self, path: Path) -> None:
        self.path, self.reads = path, 0
        self.settings = ClientSettings(self._read)

    def write(self, server: str = "http://localhost:1", user: Any = None) -> None:
        """Write the kubeconfig anew."""
        cluster = {"server": server, "insecure-skip-tls-verify": True}
        content = {
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": user or PLAIN}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        }
        self.path.write_text(yaml.safe_dump(content))

    def take(self, **more: Any) -> Any:
        """What a task gets."""
        Configuration._default = None
        return self.settings.take({"kubeconfig": str(self.path), **more})

    def _read(self, auth: dict[str, Any]) -> Any:
        self.reads += 1
        kube_config.load_kube_config(config_file=auth["kubeconfig"], context=auth.get("context"))
        return Configuration.get_default_copy()


@pytest.fixture
def login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Login:
    """A plain kubeconfig."""
    monkeypatch.setattr(kube_config, "yaml", yaml)
    monkeypatch.setattr(Configuration, "_default", None)
    read_kubeconfigs_fast()
    login = Login(tmp_path / "kubeconfig")
    login.write()
    return login


class TestClientSettings:
    """One reading of a kubeconfig for all tasks that would read the same."""

    def test_unchanged_kubeconfig_is_read_once_with_the_same_outcome(self, login: Login) -> None:
        first, default = login.take(), Configuration._default
        second = login.take()
        assert login.reads == 1
        assert second is not first
        assert (second.host, second.api_key) == ("http://localhost:1", first.api_key)
        assert Configuration._default is default

    @pytest.mark.parametrize(
        "user",
        [
            {"exec": {"command": "true", "apiVersion": "client.authentication.k8s.io/v1"}},
            {"tokenFile": "token"},
            {"client-certificate-data": "eA==", "client-key-data": "eA=="},
        ],
    )
    def test_user_that_is_not_all_in_the_file_is_never_remembered(self, user: Any) -> None:
        cluster = {"server": "https://localhost:1"}
        entries = {"clusters": [{"cluster": cluster}], "users": [{"user": user}]}
        assert not says_all(entries)
        assert says_all({**entries, "users": [{"user": PLAIN}]})

    def test_token_file_is_read_in_each_task(self, login: Login, tmp_path: Path) -> None:
        (tmp_path / "token").write_text("one")
        login.write(user={"tokenFile": str(tmp_path / "token")})
        assert login.take().api_key["BearerToken"] == "Bearer one"
        (tmp_path / "token").write_text("two")
        assert login.take().api_key["BearerToken"] == "Bearer two"

    def test_rewritten_kubeconfig_is_read_again(self, login: Login) -> None:
        login.take()
        login.write("http://localhost:22")
        assert login.take().host == "http://localhost:22"

    def test_other_arguments_folder_and_environment_are_read_again(
        self, login: Login, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        login.take()
        login.take(context="c")
        monkeypatch.chdir(tmp_path)
        login.take(context="c")
        monkeypatch.setenv("http_proxy", "http://proxy:1")
        assert login.take(context="c").proxy == "http://proxy:1"
        assert login.reads == 4


class TestVersions:
    """What is installed is looked for once, and again after something was."""

    def test_library_that_a_task_installed_is_found(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.syspath_prepend(str(tmp_path))
        library = tmp_path / "kubernetes_validate"
        versions = Versions(lambda: {"kubernetes-validate": "1"} if library.exists() else {})
        assert versions.take() == versions.take() == {}
        library.mkdir()
        assert versions.take() == {"kubernetes-validate": "1"}


class TestKeptEnvironment:
    """A task's environment is gone after it, whatever it did to it."""

    def test_added_changed_and_removed_variables_are_put_back(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CHANGED", "before")
        monkeypatch.setenv("REMOVED", "före")
        before = dict(os.environ)
        with process_state_kept():
            os.environ.update(ADDED="x", CHANGED="after")
            del os.environ["REMOVED"]
        assert dict(os.environ) == before
        assert os.getenv("REMOVED") == "före"


def test_proxies_are_asked_for_again_when_the_environment_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def getproxies() -> dict[str, str]:
        asked.append(os.environ.get("http_proxy", ""))
        return {"http": asked[-1]}

    proxies = Proxies(getproxies)
    monkeypatch.setenv("http_proxy", "http://a")
    first = proxies.take()
    first["http"] = "changed by the caller"
    assert proxies.take() == {"http": "http://a"}
    assert asked == ["http://a"]
    monkeypatch.setenv("http_proxy", "http://b")
    assert proxies.take() == {"http": "http://b"}
