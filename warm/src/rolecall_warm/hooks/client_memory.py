"""What the Kubernetes client remembers in its process, made as new where a process would be new.

It reads KUBECONFIG when it is imported, which the host did for all runs; and each login leaves its
configuration, token included, as the default of the next login. In a process for each task neither
shows; here a role's own module would find `~/.kube/config` instead of the run's kubeconfig, and the
credential for one server would go to another.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

_LOCATION = "KUBE_CONFIG_DEFAULT_LOCATION"
# Both hold the name: the second imported it from the first.
_HOLDERS = ("kubernetes.config.kube_config", "kubernetes.config")


def renew_client() -> None:
    """As if the client were imported now."""
    location = os.environ.get("KUBECONFIG", "~/.kube/config")
    for name in _HOLDERS:
        if (module := sys.modules.get(name)) is not None:
            setattr(module, _LOCATION, location)
    if (configuration := configuration_class()) is not None:
        configuration._default = None


@contextlib.contextmanager
def client_kept() -> Iterator[None]:
    """Put back afterwards what is remembered now."""
    locations = [
        (module, getattr(module, _LOCATION))
        for name in _HOLDERS
        if (module := sys.modules.get(name)) is not None
    ]
    configuration = configuration_class()
    default = configuration._default if configuration is not None else None
    try:
        yield
    finally:
        for module, location in locations:
            setattr(module, _LOCATION, location)
        if configuration is not None:
            configuration._default = default


def configuration_class() -> Any:
    """The client's settings; None where there is no client."""
    return getattr(sys.modules.get("kubernetes.client.configuration"), "Configuration", None)
