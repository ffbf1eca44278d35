"""Imports what most plays need, before the host serves any."""

from __future__ import annotations

import contextlib
import gc
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rolecall_warm.hooks import seams
from rolecall_warm.hooks.new_process import NewProcess

# What a play of any role touches; each is cheap to hold and dear to import in every run.
_MODULES = (
    "ansible.cli.playbook",
    "ansible.executor.playbook_executor",
    "ansible.executor.process.worker",
    "ansible.executor.task_executor",
    "ansible.executor.interpreter_discovery",
    "ansible.module_utils._internal._ansiballz._loader",
    "ansible.module_utils.basic",
    "ansible.module_utils.common.parameters",
    "ansible.module_utils.urls",
    "ansible.module_utils.facts.compat",
    "ansible.plugins.strategy.linear",
    "ansible.plugins.connection.local",
    "ansible.plugins.shell.sh",
    "ansible.template",
    "ansible.vars.manager",
    "concurrent.futures.thread",
    "multiprocessing.popen_fork",
    "multiprocessing.queues",
    "multiprocessing.synchronize",
    "_strptime",
    "encodings.idna",
    "yaml",
)
_KUBERNETES = (
    "kubernetes.client",
    "kubernetes.config",
    "kubernetes.dynamic",
    "kubernetes.stream",
)
_COLLECTIONS = ("kubernetes.core", "operator_sdk.util", "rolecall.operator")
_KINDS = ("connection", "shell", "become", "vars", "inventory", "strategy", "cache", "callback")
_IMPORTS = re.compile(r"^\s*from +((?:ansible|ansible_collections)\.[\w.]+) +import", re.MULTILINE)


def import_everything(new: NewProcess) -> Any:
    """Returns the `EventCallback`."""
    from ansible.plugins import loader  # noqa: PLC0415 - in its order

    seams.install_new_process(new)
    loader.init_plugin_loader([])
    # Reads ten thousand lines of YAML; what is imported later lies where they lay.
    importlib.import_module("ansible_collections.ansible.builtin")
    gc.collect()
    for name in (*_MODULES, *_KUBERNETES):
        with contextlib.suppress(ImportError):  # a project without the Kubernetes client is fine
            importlib.import_module(name)
    _answer_to_old_name()
    new.look_for_own_plugins()
    new.without_projects(lambda: _load_all(loader))
    from rolecall_warm.hooks.event_callback import EventCallback  # noqa: PLC0415

    return EventCallback.load(loader)


def _answer_to_old_name() -> None:
    """`k8s_exec` and `k8s_cp` import from `kubernetes.client.apis`, the old name of `client.api`.

    That package imports all sixty APIs to be complete, 4 s of CPU in each fork; the new one has the
    same names and imports what is asked for.
    """
    with contextlib.suppress(ImportError):
        package = importlib.import_module("kubernetes.client.api")
        sys.modules.setdefault("kubernetes.client.apis", package)


def _load_all(loader: Any) -> None:
    _load_plugins(loader)
    for collection in _COLLECTIONS:
        _load_collection(loader, collection)


def _load_plugins(loader: Any) -> None:
    for kind in _KINDS:
        with contextlib.suppress(Exception):  # one broken plugin must not cost us the others
            list(getattr(loader, f"{kind}_loader").all(class_only=True))
    for name in ("filter", "test", "lookup"):
        with contextlib.suppress(Exception):
            list(getattr(loader, f"{name}_loader").all(class_only=name == "lookup"))
    for name in _actions():
        loader.action_loader.get(name, class_only=True)


def _actions() -> Iterator[str]:
    import ansible.plugins.action as package  # noqa: PLC0415

    for module in pkgutil.iter_modules(package.__path__):
        yield f"ansible.builtin.{module.name}"


def _load_collection(loader: Any, collection: str) -> None:
    """Import a collection's actions, lookups and filters, where it is installed."""
    for kind in ("action", "lookup", "filter"):
        try:
            package = importlib.import_module(f"ansible_collections.{collection}.plugins.{kind}")
        except ImportError:
            continue
        plugins = getattr(loader, f"{kind}_loader")
        for module in pkgutil.iter_modules(package.__path__):
            with contextlib.suppress(Exception):
                plugins.get(f"{collection}.{module.name}", class_only=kind != "filter")


def import_what_it_names(path: str) -> None:
    """Import what a module file says it imports of Ansible and its collections."""
    for name in _IMPORTS.findall(Path(path).read_text(encoding="utf-8")):
        with contextlib.suppress(Exception):  # what needs a library that is not there
            importlib.import_module(name)


def collection_modules(loader: Any) -> list[str]:
    """Files of the modules of those collections, to be compiled."""
    found = []
    for collection in _COLLECTIONS:
        with contextlib.suppress(ImportError):
            package = importlib.import_module(f"ansible_collections.{collection}.plugins.modules")
            for module in pkgutil.iter_modules(package.__path__):
                context = loader.module_loader.find_plugin_with_context(
                    f"{collection}.{module.name}", ""
                )
                if context.resolved:
                    found.append(context.plugin_resolved_path)
    return found
