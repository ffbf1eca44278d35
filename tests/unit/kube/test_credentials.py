"""Where the cluster is looked for, and how a login stays good."""

from __future__ import annotations

import asyncio
import json
import re
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.kube import Credentials, CredentialsError, credentials
from tests.fixtures.authorities import issue
from tests.unit.workqueue.virtual_clock import START, VirtualClock

SERVER = "http://api.example.com:8080"


def kubeconfig(path: Path, user: dict[str, Any], server: str = SERVER) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
    }
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a pod, with its service account."""
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text("pod-token\n")
    (folder / "namespace").write_text("operators")
    monkeypatch.setattr(credentials, "SERVICE_ACCOUNT", folder)
    return {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


async def token_of(found: Credentials) -> str:
    return (await found.current()).headers["Authorization"]


async def test_kubeconfig_variable_comes_before_the_pod(
    tmp_path: Path, pod: dict[str, str]
) -> None:
    path = kubeconfig(tmp_path / "config", {"token": "mine"})
    found = Credentials.load({**pod, "KUBECONFIG": str(path)})
    assert await token_of(found) == "Bearer mine"


async def test_pod_comes_before_the_home_folder(tmp_path: Path, pod: dict[str, str]) -> None:
    kubeconfig(tmp_path / ".kube/config", {"token": "at-home"})
    found = Credentials.load(pod, home=tmp_path)
    assert str(found.server) == "https://10.0.0.1:443" or str(found.server) == "https://10.0.0.1"
    assert found.namespace == "operators"
    assert await token_of(found) == "Bearer pod-token"


async def test_home_folder_is_the_last_resort(tmp_path: Path) -> None:
    kubeconfig(tmp_path / ".kube/config", {"username": "me", "password": "pw"})
    found = Credentials.load({"KUBECONFIG": ""}, home=tmp_path)
    assert await token_of(found) == "Basic bWU6cHc="


def test_no_cluster_names_all_places(tmp_path: Path) -> None:
    with pytest.raises(CredentialsError, match="KUBECONFIG is not set, not running in a pod"):
        Credentials.load({}, home=tmp_path)


async def test_rotated_token_is_used_at_once_and_tls_is_kept(
    tmp_path: Path, pod: dict[str, str]
) -> None:
    found = Credentials.load(pod)
    before = await found.current()
    assert await found.current() is before
    new = tmp_path / "new-token"
    new.write_text("pod-token-2")
    new.replace(tmp_path / "serviceaccount/token")
    after = await found.current()
    assert after.headers["Authorization"] == "Bearer pod-token-2"
    assert after.tls is before.tls


async def test_refused_login_is_read_again_once_for_all(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", {"token": "old"})
    found = Credentials.load({"KUBECONFIG": str(path)})
    refused = await found.current()
    kubeconfig(path, {"token": "new"})
    await asyncio.gather(*(found.renew(refused) for _ in range(5)))
    assert await token_of(found) == "Bearer new"


async def test_certificate_files_that_are_wrong_are_an_error_with_their_server(
    tmp_path: Path,
) -> None:
    user = {"client-certificate": "missing.crt", "client-key": "missing.key"}
    path = kubeconfig(tmp_path / "config", user, "https://api.example.com")
    with pytest.raises(CredentialsError, match=r"TLS for `https://api.example.com`"):
        await Credentials.load({"KUBECONFIG": str(path)}).current()


ONE, OTHER = issue("one", hosts=("one",)), issue("other", hosts=("other",))


@pytest.mark.parametrize(
    ("certificate", "key", "words"),
    [
        (ONE.pem, OTHER.key_pem, r"the client certificate does not belong to the key"),
        ("hello", ONE.key_pem, r"hint: check the kubeconfig: certificates and keys must be PEM"),
        (ONE.pem, ONE.encrypted_key_pem, r"the client key is encrypted; use one that is not"),
    ],
)
async def test_client_certificate_that_cannot_be_used_says_why(
    tmp_path: Path, certificate: str, key: str, words: str
) -> None:
    """The encrypted one asked the terminal for a password, and waited."""
    (tmp_path / "me.crt").write_text(certificate)
    (tmp_path / "me.key").write_text(key)
    user = {"client-certificate": "me.crt", "client-key": "me.key"}
    path = kubeconfig(tmp_path / "config", user, "https://api.example.com")
    with pytest.raises(CredentialsError) as caught:
        await Credentials.load({"KUBECONFIG": str(path)}).current()
    assert re.search(words, str(caught.value))


@pytest.mark.parametrize(
    ("environ", "proxy"),
    [
        ({"HTTP_PROXY": "http://proxy:3128"}, "http://proxy:3128"),
        ({"http_proxy": "http://proxy:3128", "NO_PROXY": ".example.com"}, None),
        ({"HTTPS_PROXY": "http://proxy:3128"}, None),
    ],
)
async def test_proxy_of_the_environment_is_honoured(
    tmp_path: Path, environ: dict[str, str], proxy: str | None
) -> None:
    path = kubeconfig(tmp_path / "config", {})
    access = await Credentials.load({"KUBECONFIG": str(path), **environ}).current()
    assert (str(access.proxy) if access.proxy else None) == proxy


def plugin(folder: Path, status: dict[str, Any]) -> dict[str, Any]:
    """A credential plugin that counts its calls and prints `status`."""
    script = folder / "plugin"
    answer = json.dumps({"kind": "ExecCredential", "status": status})
    script.write_text(
        f"#!/bin/sh\necho x >> {folder}/calls\n"
        f'[ -n "$KUBERNETES_EXEC_INFO" ] || exit 3\n[ "$WHO" = me ] || exit 4\necho \'{answer}\'\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return {"exec": {"command": "./plugin", "env": [{"name": "WHO", "value": "me"}]}}


def calls(folder: Path) -> int:
    return len((folder / "calls").read_text().splitlines())


async def test_plugin_is_run_once_until_its_credential_is_about_to_end(tmp_path: Path) -> None:
    clock = VirtualClock()
    expires = (START + timedelta(seconds=600)).isoformat().replace("+00:00", "Z")
    user = plugin(tmp_path, {"token": "from-plugin", "expirationTimestamp": expires})
    path = kubeconfig(tmp_path / "config", user)
    found = Credentials.load({"KUBECONFIG": str(path), "PATH": "/usr/bin:/bin"}, clock=clock)
    assert [await token_of(found) for _ in range(3)] == ["Bearer from-plugin"] * 3
    assert calls(tmp_path) == 1
    await clock.advance(575)
    await token_of(found)
    assert calls(tmp_path) == 2


async def test_refused_plugin_credential_is_asked_for_again(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", plugin(tmp_path, {"token": "t"}))
    found = Credentials.load({"KUBECONFIG": str(path), "PATH": "/usr/bin:/bin"})
    await found.renew(await found.current())
    assert calls(tmp_path) == 2


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("echo no cloud >&2; exit 1", "ended with 1: no cloud"),
        ("echo hello", "printed no ExecCredential"),
    ],
)
async def test_plugin_that_fails_is_named(tmp_path: Path, script: str, complaint: str) -> None:
    path = kubeconfig(tmp_path / "config", plugin(tmp_path, {}))
    (tmp_path / "plugin").write_text(f"#!/bin/sh\n{script}\n")
    found = Credentials.load({"KUBECONFIG": str(path), "PATH": "/usr/bin:/bin"})
    with pytest.raises(CredentialsError, match=complaint):
        await found.current()


async def test_plugin_that_is_missing_comes_with_its_install_hint(tmp_path: Path) -> None:
    user = {"exec": {"command": "no-such-plugin", "installHint": "get it from the cloud"}}
    path = kubeconfig(tmp_path / "config", user)
    with pytest.raises(CredentialsError, match="get it from the cloud"):
        await Credentials.load({"KUBECONFIG": str(path)}).current()
