"""Kubeconfig files, readable by their owner only."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rolecall.errors import InputError
from rolecall_dev.localcluster.certificates import KeyPair, write_private

CONTEXT_PREFIX = "rolecall-"  # of the names in an administrator's kubeconfig


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """How to reach an API server, and as whom: by a certificate or by a token."""

    url: str
    authority: Path
    pair: KeyPair | None = None
    token: str = ""
    name: str = "local"
    namespace: str = "default"


def write_kubeconfig(path: Path, access: ClusterAccess) -> Path:
    """Everything inline, so that the file can be copied to where it is needed."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": access.name,
                "cluster": {
                    "server": access.url,
                    "certificate-authority-data": _encoded(access.authority),
                },
            }
        ],
        "users": [{"name": access.name, "user": _user(access)}],
        "contexts": [
            {
                "name": access.name,
                "context": {
                    "cluster": access.name,
                    "user": access.name,
                    "namespace": access.namespace,
                },
            }
        ],
        "current-context": access.name,
    }
    write_private(path, yaml.safe_dump(content, sort_keys=False).encode())
    return path


def copy_kubeconfig(source: Path, target: Path) -> None:
    """Put a copy where the user wants it; a file of someone else's is not touched."""
    require_replaceable(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_private(target, source.read_bytes())


def require_replaceable(target: Path) -> None:
    """Raise when there is a file that we did not write."""
    if target.exists() and not is_ours(target):
        raise InputError(
            f"`{target}` exists, and was not written by `rolecall cluster up`",
            hint="name a new file, and merge the two with `kubectl config view --flatten`",
        )


def is_ours(path: Path) -> bool:
    """Whether a kubeconfig knows one of our clusters and nothing else."""
    try:
        content = yaml.safe_load(path.read_text())
        names = [cluster["name"] for cluster in content["clusters"]]
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError):
        return False
    return len(names) == 1 and str(names[0]).startswith(CONTEXT_PREFIX)


def _user(access: ClusterAccess) -> dict[str, Any]:
    if access.token:
        return {"token": access.token}
    assert access.pair is not None, "an access needs a certificate or a token"
    return {
        "client-certificate-data": _encoded(access.pair.certificate),
        "client-key-data": _encoded(access.pair.key),
    }


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
