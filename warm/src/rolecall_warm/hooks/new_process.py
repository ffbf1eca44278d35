"""What `ansible-playbook` is like when it was only just imported, so that each run can begin like that.

Ansible keeps more in a process than it says: which plugins it found, what options they have, what it
warned of. A host that prepares itself fills all that, and a run that inherited it would not look again:
vars plugins were lost, a plugin of the project's own lost to one of ansible-core with the same name. So
`NewProcess` notes how things are right after the import, before anything is prepared; a run puts that
back. What was prepared stays: modules, which are taken by their file, and the options in their docs.

Rejected: preparing without leaving traces. It was tried, and each trace was found by a user.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

from rolecall_warm.hooks.import_notes import library_folders
from rolecall_warm.hooks.own_plugins import OwnPlugins

_COLLECTIONS = "/ansible_collections/"


class NewProcess:
    """The state of a process that imported `ansible.cli.playbook` and did nothing else."""

    def __init__(self) -> None:
        """Import it, and note; call before anything else imports Ansible."""
        self._said = _words_of(lambda: importlib.import_module("ansible.cli.playbook"))
        self._natural = frozenset(sys.modules)
        self._plugins = importlib.import_module("ansible.plugins")
        self._loader = importlib.import_module("ansible.plugins.loader")
        self._config = importlib.import_module("ansible.constants").config
        self._display = importlib.import_module("ansible.utils.display").Display()
        self._noted = _Noted(self._owners())
        self._libraries = library_folders(str(Path(str(sys.modules["ansible"].__file__)).parent))
        # Imported for the run before it began, and not yet asked for by it.
        self._prepared: frozenset[str] = frozenset()
        self._package_paths: dict[tuple[str, bool], list[str]] = {}
        self._options: dict[tuple[str, str, str], Any] = {}
        self.own_plugins = OwnPlugins()

    def renew(self) -> None:
        """Say what an import said, in a fork of a process that is as new; once Display is new."""
        _reopen_log()
        if self._said:
            os.write(2, self._said)

    def without_projects(self, prepare: Callable[[], object]) -> None:
        """Prepare plugins of ansible-core alone: what settings add is for each run to import."""
        loaders = self._loaders()
        configured = [loader.config for loader in loaders]
        for loader in loaders:
            loader.config = []
        try:
            prepare()
        finally:
            for loader, config in zip(loaders, configured, strict=True):
                loader.config = config
            self.be_as_new()

    def look_for_own_plugins(self) -> None:
        """Before anything is prepared: a loader that was used would not look again."""
        self.without_projects(lambda: self.own_plugins.look(self._loaders()))

    def be_as_new(self) -> None:
        """Put everything back, once something was prepared; a fork would copy all that it looks at."""
        self._noted.put_back()
        self._prepared = frozenset(sys.modules) - self._natural

    def load_module(
        self, original: Callable[..., Any], loader: Any, *args: Any, **more: Any
    ) -> Any:
        """The stand-in for `PluginLoader._load_module_source`, which takes what has the name."""
        path = str(more["path"] if "path" in more else args[-1])
        name = more.get("python_module_name") or _full_name(loader, str(args[0]))
        if name in self._prepared:
            self._prepared -= {name}
            module = sys.modules.get(name)
            if module is not None and not self._may_stand_for(module, path):
                del sys.modules[name]
        return original(loader, *args, **more)

    def load_options(
        self, original: Callable[..., Any], loader: Any, name: str, module: Any, path: str
    ) -> None:
        """The stand-in for `PluginLoader._load_config_defs`, which reads a plugin's documentation."""
        key = (loader.class_name, name, path)
        kind = self._plugins.get_plugin_class(loader.class_name)
        has_none = not self._config.has_configuration_definition(kind, name)
        if key in self._options:
            kept = self._options[key]
            if has_none and kept is not None:
                self._config.initialize_plugin_configuration_definitions(kind, name, kept)
            return
        original(loader, name, module, path)
        found = self._config._plugins.get(kind, {}).get(name)
        if has_none and path.startswith(self._libraries):
            self._options[key] = found  # many have none, and long documentation

    def package_paths(
        self, original: Callable[..., Any], loader: Any, subdirs: bool = True
    ) -> list[str]:
        """The stand-in for `PluginLoader._get_package_paths`, which walks ansible-core's folders."""
        key = (loader.package, subdirs)
        if key not in self._package_paths:
            self._package_paths[key] = original(loader, subdirs)
        return [*self._package_paths[key]]

    def _may_stand_for(self, module: Any, path: str) -> bool:
        """Whether it is what this file would be; a project's own file runs in each run anew."""
        is_library = path.startswith(self._libraries) or _COLLECTIONS in path
        return is_library and getattr(module, "__file__", None) == path

    def _loaders(self) -> list[Any]:
        kind = self._loader.PluginLoader
        return [each for each in vars(self._loader).values() if isinstance(each, kind)]

    def _owners(self) -> list[Any]:
        """Whatever remembers plugins, their options, or what was said about settings."""
        display, config = self._display, self._config
        return [
            *(vars(loader) for loader in self._loaders()),
            *(
                self._plugins.MODULE_CACHE,
                self._plugins.PATH_CACHE,
                self._plugins.PLUGIN_PATH_CACHE,
            ),
            *(self._loader._PLUGIN_FILTERS, config._plugins, config.WARNINGS, config.DEPRECATED),
            getattr(config, "_errors", []),  # not in every ansible-core
            *(display._deprecations, display._warns, display._errors),
        ]


class _Noted:
    """What is in some containers, and in the containers that they hold."""

    def __init__(self, owners: list[Any]) -> None:
        self._contents: dict[int, tuple[Any, Any]] = {}
        for owner in owners:
            self._note(owner)
            for held in owner.values() if isinstance(owner, MutableMapping) else ():
                if isinstance(held, dict | list | set):
                    self._note(held)

    def _note(self, container: Any) -> None:
        self._contents[id(container)] = (container, container.copy())

    def put_back(self) -> None:
        """The same containers with the same contents: who shared one shares it again."""
        for container, content in self._contents.values():
            if container != content:
                container.clear()
                (container.extend if isinstance(container, list) else container.update)(content)


def _full_name(loader: Any, name: str) -> str:
    """As ansible-core 2.18 makes it, which passes the short one."""
    return name if name.startswith("ansible_collections.") else f"{loader.package}.{name}"


def _words_of(speak: Callable[[], object]) -> bytes:
    """What a step prints: warnings about settings, which each run is to show."""
    printed = os.memfd_create("said")
    kept = [os.dup(number) for number in (1, 2)]
    try:
        for number in (1, 2):
            os.dup2(printed, number)
        speak()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        words = os.pread(printed, os.fstat(printed).st_size, 0)
        for number, descriptor in zip((1, 2), kept, strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.close(printed)
        os.write(2, words)  # for the engine, where the import failed
    return words


# The files that the host had open are not ours to close: their numbers mean something else by now.
_closed: list[Any] = []


def _reopen_log() -> None:
    """The log of ANSIBLE_LOG_PATH is opened by an import; a run has closed all that was open."""
    logging = sys.modules["logging"]
    for handler in logging.root.handlers:
        if isinstance(handler, logging.FileHandler):
            _closed.append(handler.stream)
            handler.stream = handler._open()
