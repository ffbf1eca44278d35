"""Reads kubeconfig files into a `Login`, as kubectl does.

Several files of `KUBECONFIG` are merged: the first one that names a cluster, user, context or the
current context wins, and files that do not exist are passed over. Relative paths are relative to
the file that has them. What client-go has dropped (`auth-provider`) is refused by name instead of
being passed over, because the 401 that follows would not say why.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import yaml
from yarl import URL

from rolecall.json_object import Json
from rolecall.kube.errors import CredentialsError, NoClusterNamedError
from rolecall.kube.login import ExecPlugin, Login

# In C, where it was built so: the file holds whole certificates, which take Python long to scan.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LISTS = {"clusters": "cluster", "users": "user", "contexts": "context"}


def read_kubeconfig(paths: Sequence[Path]) -> Login:
    """Merge the files and return the login of the current context."""
    try:
        return _merged(paths)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        names = ", ".join(f"`{path}`" for path in paths)
        # Without the cause, which may quote the file, keys and all.
        raise CredentialsError(
            f"Invalid kubeconfig {names}: a field has the wrong type",
            hint="compare it with `kubectl config view`",
        ) from None


def _merged(paths: Sequence[Path]) -> Login:
    found = [path for path in paths if path.exists()]
    if not found:
        looked = ", ".join(f"`{path}`" for path in paths)
        raise CredentialsError(
            f"no kubeconfig was found in {looked}", hint="set KUBECONFIG to a file that exists"
        )
    merged: dict[str, dict[str, tuple[Json, Path]]] = {plural: {} for plural in _LISTS}
    current = ""
    for path in found:
        document = _read(path)
        current = current or str(document.get("current-context") or "")
        for plural, singular in _LISTS.items():
            for row in document.get(plural) or []:
                entry = (row.get(singular) or {}, path.resolve().parent)
                merged[plural].setdefault(str(row.get("name")), entry)
    names = ", ".join(f"`{path}`" for path in found)
    if not current:
        raise NoClusterNamedError(
            f"no current context was set in {names}", hint="`kubectl config use-context NAME`"
        )
    context, _ = _pick(merged, "contexts", current, names)
    cluster, cluster_folder = _pick(merged, "clusters", str(context.get("cluster")), names)
    login = replace(
        _cluster_of(cluster, cluster_folder),
        namespace=context.get("namespace") or "default",
        context=current,
    )
    if not context.get("user"):
        return login
    user, user_folder = _pick(merged, "users", str(context["user"]), names)
    return _with_user(login, user, user_folder)


def _read(path: Path) -> Json:
    try:
        text = path.read_text(encoding="utf-8")
        document = yaml.load(text, Loader=_LOADER) or {}  # noqa: S506 - both are safe loaders
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as failure:
        # The parser's own text would quote the file, keys and all.
        kind = failure.strerror if isinstance(failure, OSError) else "it is not valid YAML"
        raise CredentialsError(f"could not read the kubeconfig `{path}`: {kind}") from None
    if not isinstance(document, dict):
        raise CredentialsError(f"could not read the kubeconfig `{path}`: it is not a mapping")
    return document


def _pick(
    merged: dict[str, dict[str, tuple[Json, Path]]], plural: str, name: str, names: str
) -> tuple[Json, Path]:
    try:
        return merged[plural][name]
    except KeyError:
        raise CredentialsError(f"{_LISTS[plural]} `{name}` was not found in {names}") from None


def _cluster_of(cluster: Json, folder: Path) -> Login:
    server = str(cluster.get("server") or "").rstrip("/")
    if not server.startswith(("http://", "https://")):
        server = f"https://{server}" if server else ""
    if not server:
        raise CredentialsError("the kubeconfig's current cluster has no `server`")
    for key, address in (("server", server), ("proxy-url", str(cluster.get("proxy-url") or ""))):
        try:
            _ = URL(address)
        except (ValueError, IndexError):  # the latter of a host that is cut off
            # Not quoted: a proxy's address may hold a password.
            raise CredentialsError(f"the kubeconfig's `{key}` is not a URL") from None
    return Login(
        server=server,
        ca_data=_decoded(cluster, "certificate-authority-data"),
        ca_file=_file(cluster, "certificate-authority", folder),
        insecure=bool(cluster.get("insecure-skip-tls-verify")),
        tls_server_name=str(cluster.get("tls-server-name") or ""),
        proxy_url=str(cluster.get("proxy-url") or ""),
    )


def _with_user(login: Login, user: Json, folder: Path) -> Login:
    if user.get("auth-provider"):
        name = user["auth-provider"].get("name")
        raise CredentialsError(
            f"the kubeconfig's user has `auth-provider: {name}`, which is no longer supported",
            hint="use an `exec` plugin of that provider instead",
        )
    return replace(
        login,
        certificate_data=_decoded(user, "client-certificate-data"),
        certificate_file=_file(user, "client-certificate", folder),
        key_data=_decoded(user, "client-key-data"),
        key_file=_file(user, "client-key", folder),
        token=str(user.get("token") or ""),
        token_file=_file(user, "tokenFile", folder),
        username=str(user.get("username") or ""),
        password=str(user.get("password") or ""),
        headers=_impersonation(user),
        exec_plugin=_exec_of(user["exec"], folder) if user.get("exec") else None,
    )


def _exec_of(entry: Json, folder: Path) -> ExecPlugin:
    return ExecPlugin(
        command=str(entry.get("command") or ""),
        args=tuple(str(arg) for arg in entry.get("args") or []),
        environment={str(row["name"]): str(row["value"]) for row in entry.get("env") or []},
        api_version=str(entry.get("apiVersion") or "client.authentication.k8s.io/v1"),
        provide_cluster=bool(entry.get("provideClusterInfo")),
        install_hint=str(entry.get("installHint") or ""),
        directory=folder,
    )


def _impersonation(user: Json) -> dict[str, str]:
    headers = {"Impersonate-User": user.get("as"), "Impersonate-Uid": user.get("as-uid")}
    if user.get("as-groups") or user.get("as-user-extra"):
        raise CredentialsError(
            "the kubeconfig's user has `as-groups` or `as-user-extra`, which are not supported",
            hint="give the operator a ServiceAccount of its own",
        )
    return {name: str(value) for name, value in headers.items() if value}


def _file(entry: Json, key: str, folder: Path) -> Path | None:
    value = entry.get(key)
    return folder / str(value) if value else None


def _decoded(entry: Json, key: str) -> str:
    value = entry.get(key)
    if not value:
        return ""
    try:
        return base64.b64decode(str(value)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        raise CredentialsError(f"the kubeconfig's `{key}` is not PEM in base64") from None
