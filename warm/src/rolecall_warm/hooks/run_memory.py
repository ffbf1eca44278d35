"""What kubernetes.core finds out anew in each task, found out once in a run.

Each of its modules reads the kubeconfig and makes a client's settings of it (1.5 ms), looks for four
libraries, of which one is mostly not there (0.5 ms), and for proxies in the environment, whenever
settings are made or given a host (0.3 ms). All come to the same as long as nothing
that they look at has changed, so they are asked again when it has: the arguments, the environment, the
folder, the kubeconfig, the folders of libraries. A run is a process of its own, so no other run sees
any of it. Only kubeconfigs are remembered that say all there is to know: none that names other files
or a program to ask.
"""

from __future__ import annotations

import copy
import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rolecall_base.file_stamp import Stamp, stamp_of
from rolecall_warm.hooks.client_memory import configuration_class
from rolecall_warm.hooks.kept_state import environment_now
from rolecall_warm.hooks.kubeconfigs import documents_read

_COLLECTION = "ansible_collections.kubernetes.core.plugins.module_utils.k8s"
_WHOLE_CLUSTER = frozenset({"server", "insecure-skip-tls-verify"})
_WHOLE_USER = frozenset({"username", "password", "token"})


def remember_in_run() -> None:
    """Stand in front of the collection's functions; does nothing where it is not installed."""
    client: Any = sys.modules.get(f"{_COLLECTION}.client")
    if hasattr(client, "_create_configuration") and configuration_class() is not None:
        settings = ClientSettings(client._create_configuration)
        client._create_configuration = _stand_in(client._create_configuration, settings.take)
    configuration: Any = sys.modules.get("kubernetes.client.configuration")
    if hasattr(configuration, "getproxies"):
        proxies = Proxies(configuration.getproxies)
        configuration.getproxies = _stand_in(configuration.getproxies, proxies.take)
    core: Any = sys.modules.get(f"{_COLLECTION}.core")
    if hasattr(core, "gather_versions"):
        versions = Versions(core.gather_versions)
        core.gather_versions = _stand_in(core.gather_versions, versions.take)


def _stand_in(original: Callable[..., Any], take: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def function(*args: Any) -> Any:
        return take(*args)

    return function


@dataclass(frozen=True, slots=True)
class _Kept:
    """A client's settings, and all that they were made of."""

    made_of: tuple[Any, ...]
    configuration: Any
    default: Any  # what making them left behind as the default settings


class ClientSettings:
    """Stands in for `_create_configuration`."""

    def __init__(self, original: Callable[[dict[str, Any]], Any]) -> None:
        self._original = original
        self._kept: dict[str, _Kept] = {}

    def take(self, auth: dict[str, Any]) -> Any:
        """The settings for these arguments, as they would be made now."""
        path = auth.get("kubeconfig")
        stamp = stamp_of(path) if isinstance(path, str) and "host" not in auth else None
        if not isinstance(path, str) or stamp is None:
            return self._original(auth)
        made_of = (dict(auth), stamp, dict(environment_now()), os.getcwd())  # noqa: PTH109
        owner = configuration_class()
        kept = self._kept.get(path)
        if kept is not None and kept.made_of == made_of:
            owner._default = kept.default
            return copy.copy(kept.configuration)
        with documents_read() as documents:
            configuration = self._original(auth)
        if len(documents) == 1 and says_all(documents[0]):
            self._kept[path] = _Kept(made_of, copy.copy(configuration), owner._default)
        return configuration


class Proxies:
    """Stands in for `getproxies`."""

    def __init__(self, original: Callable[[], dict[str, str]]) -> None:
        self._original = original
        self._kept: tuple[dict[bytes, bytes], dict[str, str]] | None = None

    def take(self) -> dict[str, str]:
        """The proxies that the environment names now."""
        environment = environment_now()
        if self._kept is None or self._kept[0] != environment:
            self._kept = (dict(environment), self._original())
        return dict(self._kept[1])


class Versions:
    """Stands in for `gather_versions`."""

    def __init__(self, original: Callable[[], dict[str, str]]) -> None:
        self._original = original
        self._kept: tuple[list[tuple[str, Stamp | None]], dict[str, str]] | None = None

    def take(self) -> dict[str, str]:
        """The versions of what is installed; Python, too, looks at its folders to know."""
        folders = [(folder, stamp_of(folder)) for folder in sys.path]
        if self._kept is None or self._kept[0] != folders:
            self._kept = (folders, self._original())
        return dict(self._kept[1])


def says_all(kubeconfig: Any) -> bool:
    """Whether nothing but this text decides how its clusters are reached."""
    try:
        clusters = [entry["cluster"] for entry in kubeconfig["clusters"]]
        users = [entry["user"] for entry in kubeconfig["users"]]
        return all(_WHOLE_CLUSTER.issuperset(cluster) for cluster in clusters) and all(
            _WHOLE_USER.issuperset(user) for user in users
        )
    except (KeyError, TypeError):
        return False
