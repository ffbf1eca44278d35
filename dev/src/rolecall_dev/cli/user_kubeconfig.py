"""The user's own kubeconfig, where it says how a play or a plan is to begin."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from rolecall.errors import InputError


def kubeconfig_of(environment: Mapping[str, str], *, is_needed: bool = True) -> Path:
    """Its path; raises `InputError` where it is needed and not there."""
    named = environment.get("KUBECONFIG") or str(Path("~/.kube/config").expanduser())
    first = Path(named.split(os.pathsep)[0])
    if is_needed and not first.is_file():
        raise InputError(
            f"the kubeconfig `{first}` was not found, so the play would reach no cluster",
            hint="`rolecall cluster up` starts a cluster on this machine; else set KUBECONFIG",
        )
    return Path(named) if os.pathsep in named else first.absolute()


def current_namespace(environment: Mapping[str, str]) -> str:
    """The namespace that kubectl would take, as far as the kubeconfig can be read."""
    try:
        config = yaml.safe_load(kubeconfig_of(environment, is_needed=False).read_text())
        contexts = {entry["name"]: entry["context"] for entry in config["contexts"]}
        return str(contexts[config["current-context"]].get("namespace") or "default")
    except (OSError, ValueError, yaml.YAMLError, LookupError, TypeError, AttributeError):
        return "default"
