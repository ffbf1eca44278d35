"""The user's own kubeconfig, where it says how a play or a plan is to begin."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from rolecall.errors import InputError
from rolecall.kube import Credentials, CredentialsError


def kubeconfig_of(environment: Mapping[str, str], *, is_needed: bool = True) -> Path:
    """Its path; raises `InputError` where it is needed and not there."""
    named = environment.get("KUBECONFIG") or str(Path("~/.kube/config").expanduser())
    files = [Path(each) for each in named.split(os.pathsep) if each]
    if is_needed and not any(file.is_file() for file in files):
        raise InputError(
            f"the kubeconfig `{named}` was not found, so the play would reach no cluster",
            hint="`rolecall cluster up` starts a cluster on this machine; else set KUBECONFIG",
        )
    return Path(named) if os.pathsep in named else files[0].absolute()


def current_namespace(environment: Mapping[str, str]) -> str:
    """The namespace that kubectl would take, as far as the kubeconfig can be read."""
    try:
        return Credentials.load(environment).namespace
    except CredentialsError:
        return "default"
