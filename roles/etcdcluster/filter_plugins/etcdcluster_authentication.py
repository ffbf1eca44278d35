"""Filters about the users of an etcd cluster: who the role is, what is to do, who is let in.

The role has a user of its own, whose name changes with its password: so the members that started with
the old one and those that start with the new one are both let in until all have the new one.
"""

from __future__ import annotations

import base64
import secrets
from typing import Any

Json = dict[str, Any]

_ROOT = "root"
_LONGEST = 72  # bytes of a password that etcd looks at
_OPEN = "authentication is not enabled"
_REFUSALS = (
    "user name is empty",
    "authentication failed",
    "permission denied",
    "invalid auth token",
)


def etcdcluster_user_env(secret: str) -> list[Json]:
    """The environment by which etcdctl finds user and password.

    Optional, since a member must start without the Secret too.
    """
    return [
        {
            "name": f"ETCDCTL_{key.upper()}",
            "valueFrom": {"secretKeyRef": {"name": secret, "key": name, "optional": True}},
        }
        for key, name in (("user", "username"), ("password", "password"))
    ]


def etcdcluster_access(asked: list[Json]) -> Json:
    """Whether etcd let the role in, as `{refused, open}`, from what etcdctl said of its errors.

    `open` is true where etcd says that it asks nobody for a password.
    """
    words = [str(each.get("stderr") or "") for each in asked]
    answered = any(each.get("stdout") for each in asked)
    return {
        "refused": not answered and any(refusal in said for said in words for refusal in _REFUSALS),
        "open": any(_OPEN in said for said in words),
    }


def etcdcluster_user_wrong(tried: list[Json]) -> str:
    """What etcdctl has against a user, in its last words; empty where it took it."""
    done = [each for each in tried if not each.get("skipped")]
    if not done or done[-1].get("rc") == 0:
        return ""
    words = str(done[-1].get("stderr") or done[-1].get("msg") or "it does not say why")
    return words.strip().splitlines()[-1][:300]


def etcdcluster_operator(found: list[Json], known: bool, before: str) -> Json:
    """The user that the role is, as `{user, password, new}`; no password where nobody knows it.

    Made anew where the Secret is gone or cannot be used, and where a person wrote root into it to let
    the role in again. Not while etcd is silent: members that still know the old one could let it in.
    """
    user, password = _read(found, "username"), _read(found, "password")
    if _is_password(password) and user and (user != _ROOT or not known):
        return {"user": user, "password": password, "new": False}
    if before and not known:
        return {"user": before, "password": "", "new": False}
    return {
        "user": f"operator-{secrets.token_hex(4)}",
        "password": etcdcluster_new_password(),
        "new": True,
    }


def etcdcluster_new_password(_: Any = None) -> str:
    """A password that nobody guesses."""
    return secrets.token_urlsafe(32)


def etcdcluster_password(found: list[Json]) -> str:
    """The password of a Secret; empty where there is none that etcd can take."""
    password = _read(found, "password")
    return password if _is_password(password) else ""


def _is_password(text: str) -> bool:
    """etcdctl reads it up to the first space, and etcd looks at its first bytes alone."""
    return (
        bool(text) and not any(each.isspace() for each in text) and len(text.encode()) <= _LONGEST
    )


def _read(found: list[Json], key: str) -> str:
    data = (found[0].get("data") or {}) if found else {}
    try:
        return base64.b64decode(data.get(key, "")).decode()
    except ValueError:
        return ""


def etcdcluster_users(said: Json, wanted: Json, quiet: bool, access: Json) -> Json:
    """What is to do, as `{password, enable, drop, told}`.

    `said` is what status tells, `wanted` is `{user, secret, secretVersion}` as they are now. Nothing is
    done until all members are well and have the role's new user: then nobody needs the old one.
    """
    is_on = bool(said.get("enabled")) and not access["open"]
    if not quiet:
        return {"password": False, "enable": False, "drop": "", "told": said | {"enabled": is_on}}
    fields = ("secret", "secretVersion")
    old = str(said.get("user") or "")
    return {
        "password": not is_on or any(said.get(field) != wanted[field] for field in fields),
        "enable": not is_on,
        "drop": old if old not in ("", _ROOT, wanted["user"]) else "",
        "told": wanted | {"enabled": True},
    }


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "etcdcluster_access": etcdcluster_access,
            "etcdcluster_new_password": etcdcluster_new_password,
            "etcdcluster_operator": etcdcluster_operator,
            "etcdcluster_password": etcdcluster_password,
            "etcdcluster_user_env": etcdcluster_user_env,
            "etcdcluster_user_wrong": etcdcluster_user_wrong,
            "etcdcluster_users": etcdcluster_users,
        }
