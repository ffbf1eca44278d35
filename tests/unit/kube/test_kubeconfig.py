"""Kubeconfig files, read as kubectl reads them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from rolecall.kube import CredentialsError
from rolecall.kube.kubeconfig import read_kubeconfig

CLUSTER = {"server": "https://api.example.com:6443/k8s/clusters/c-1/"}


def write(path: Path, **parts: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(parts))
    return path


def whole(path: Path, user: dict[str, Any], cluster: dict[str, Any] | None = None) -> Path:
    return write(
        path,
        **{"current-context": "here"},
        clusters=[{"name": "c", "cluster": cluster or CLUSTER}],
        users=[{"name": "u", "user": user}],
        contexts=[{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "ops"}}],
    )


def test_server_keeps_its_base_path_and_context_gives_the_namespace(tmp_path: Path) -> None:
    login = read_kubeconfig([whole(tmp_path / "config", {"token": "t"})])
    assert login.server == "https://api.example.com:6443/k8s/clusters/c-1"
    assert login.namespace == "ops"
    assert login.token == "t"


def test_several_files_are_merged_and_the_first_wins(tmp_path: Path) -> None:
    first = write(
        tmp_path / "first",
        **{"current-context": "b"},
        users=[{"name": "u", "user": {"token": "of-the-first"}}],
    )
    second = write(
        tmp_path / "second",
        **{"current-context": "a"},
        clusters=[{"name": "c", "cluster": CLUSTER}],
        users=[{"name": "u", "user": {"token": "of-the-second"}}],
        contexts=[{"name": "b", "context": {"cluster": "c", "user": "u"}}],
    )
    login = read_kubeconfig([tmp_path / "missing", first, second])
    assert login.token == "of-the-first"
    assert login.namespace == "default"


def test_relative_files_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    user = {"client-certificate": "me.crt", "client-key": "keys/me.key", "tokenFile": "/run/token"}
    cluster = {**CLUSTER, "certificate-authority": "ca.crt"}
    login = read_kubeconfig([whole(tmp_path / "conf" / "config", user, cluster)])
    assert login.ca_file == tmp_path / "conf/ca.crt"
    assert login.certificate_file == tmp_path / "conf/me.crt"
    assert login.key_file == tmp_path / "conf/keys/me.key"
    assert login.token_file == Path("/run/token")


def test_inline_data_and_options_of_the_cluster_are_read(tmp_path: Path) -> None:
    pem = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()
    cluster = {
        **CLUSTER,
        "certificate-authority-data": pem,
        "insecure-skip-tls-verify": True,
        "tls-server-name": "kubernetes",
        "proxy-url": "http://proxy:3128",
    }
    user = {"username": "me", "password": "secret", "as": "other-user"}
    login = read_kubeconfig([whole(tmp_path / "config", user, cluster)])
    assert login.ca_data.startswith("-----BEGIN")
    assert (login.insecure, login.tls_server_name) == (True, "kubernetes")
    assert login.proxy_url == "http://proxy:3128"
    assert login.headers == {"Impersonate-User": "other-user"}
    assert "secret" not in repr(login)


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ({}, "no current context was set"),
        ({"current-context": "gone"}, "context `gone` was not found"),
        (
            {
                "current-context": "x",
                "contexts": [{"name": "x", "context": {"cluster": "c"}}],
                "clusters": [{"name": "c", "cluster": {}}],
            },
            "has no `server`",
        ),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, parts: dict[str, Any], complaint: str) -> None:
    with pytest.raises(CredentialsError, match=complaint):
        read_kubeconfig([write(tmp_path / "config", **parts)])


def test_file_that_is_no_yaml_is_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("users: [{token: hunter2")
    with pytest.raises(CredentialsError) as caught:
        read_kubeconfig([path])
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_no_file_at_all_names_the_places(tmp_path: Path) -> None:
    with pytest.raises(CredentialsError, match="no kubeconfig was found"):
        read_kubeconfig([tmp_path / "a", tmp_path / "b"])


@pytest.mark.parametrize("user", [{"auth-provider": {"name": "gcp"}}, {"as-groups": ["admins"]}])
def test_what_cannot_be_honoured_is_refused(tmp_path: Path, user: dict[str, Any]) -> None:
    with pytest.raises(CredentialsError, match="support"):
        read_kubeconfig([whole(tmp_path / "config", user)])
