"""Notes what a play uses that is not a function of its inputs: the first such thing, with its task.

Seen are actions as their tasks begin, modules as they run, filters and tests as templates take them,
lookups and other plugins as they are loaded, `now()` as it is called, and files as they are opened.
Told is the first that is not pure, and of the environment which variables a lookup asked for.

The hard part is not to take something for pure that is not. So a name counts only where the plugin
behind it lies where that collection is installed; all else is the project's own, and acting. Files
count where they are of the project (`inputs`) or of what is installed; others are not an input. A file
that is not there yet is never opened: so the terms of lookups and the paths in arguments are judged
as well, and where a search found nothing, the places where it looked.

Rejected: reading the role's text. It does not tell which branch runs, nor what a variable names.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import date
from typing import Any

from rolecall_base.purity import FILE_VARIABLES, Used, asks_elsewhere, purity_of
from rolecall_base.wire import report
from rolecall_warm.hooks.opened_files import OpenedFiles

_LONGEST_TEXT = 300
# Arguments of actions and modules that name files.
_PATHS = ("_raw_params", "dir", "file", "src", "template")
# Methods of dates, which filters and YAML make, that look at the clock.
_CLOCKS = frozenset({"now", "today", "utcnow"})
_JINJA = {"filter": Used.FILTER, "test": Used.TEST}
# Of other plugins: those with which a play stays on this machine and reads the project's files alone.
_OTHERS = {
    "connection": ("local", "reaches another machine"),
    "vars": ("host_group_vars", "may read anything"),
    "cache": ("memory", "keeps facts between runs"),
}


class Uses:
    """The run child's notes; none are taken until told where to report."""

    def __init__(self, core_folder: str) -> None:
        self._core_folder = core_folder + os.sep
        self._sock: Any = None
        self._listens = False
        self._place = ""
        self._seen: set[tuple[str, str]] = set()
        self._variables: set[str] = set()
        self.opened = OpenedFiles(core_folder, self._found)

    def begin(self, sock: Any, inputs: tuple[str, ...], own: tuple[str, ...]) -> None:
        """Note from now on, for the run of this process.

        Its project's files are below `inputs`; `own` are files that the host writes notes in.
        """
        self._sock, self._listens = sock, True
        self._place = ""
        self._seen.clear()
        self._variables.clear()
        self.opened.begin(inputs, own)

    def end(self) -> None:
        """The play is over: what this process does from now on is the host's business."""
        self._listens = False

    def task_begins(self, task: Any, facts: Any) -> None:
        """A task, with what was found out about its action."""
        if not self._listens:
            return
        self._place = str(task.get_path())[:_LONGEST_TEXT]
        for is_so, what in (
            (not facts.is_genuine, f"action `{facts.action}` is the project's own"),
            (facts.is_async, "`async` leaves a job in the background"),
            (facts.is_become, "`become` changes the user"),
            (not facts.is_local, "the task runs on another machine"),
        ):
            if is_so:
                self._found(what)
                return
        self._judge(Used.ACTION, f"{facts.collection}.{facts.action}")

    def module_runs(self, action: Any, path: str | None, name: str, arguments: Any) -> None:
        """A module, by its file, with its arguments."""
        if not self._listens:
            return
        full = self._full_name(path or "", "modules", name)
        if not full:
            self._found(f"module `{name}` is not one that is known to be pure")
            return
        if full.startswith("kubernetes.core."):
            self._looks_for_arguments(arguments)
            self._asks_elsewhere(full, arguments)
            self._environment_leads_elsewhere(action)
        self._judge(Used.MODULE, full)

    def find_jinja(self, original: Callable[..., Any], intercept: Any, key: str) -> Any:
        """The stand-in for `JinjaPluginIntercept.__getitem__`: a template takes a filter or test."""
        function = original(intercept, key)
        if self._listens:
            loader = getattr(intercept, "_plugin_loader", None) or intercept._pluginloader
            seen = (loader.type, key)
            if seen not in self._seen:
                self._seen.add(seen)
                self._judge_jinja(loader, key)
        return function

    def find_plugin(
        self, original: Callable[..., Any], loader: Any, name: str, /, *args: Any, **more: Any
    ) -> Any:
        """The stand-in for `PluginLoader.get_with_context`."""
        found = original(loader, name, *args, **more)
        if self._listens and found.object is not None:
            if loader.type == "lookup":
                self._judge_lookup(name, found.object, is_class=bool(more.get("class_only")))
            elif loader.type == "action" and purity_of(Used.ACTION, name).reads_files:
                # An action that misses its file fails before its module runs.
                task = getattr(found.object, "_task", None)
                self._looks_for_arguments(getattr(task, "args", None))
            elif loader.type in _OTHERS:
                self._judge_other(loader.type, name, found.object)
        return found

    def calls(self, original: Callable[..., Any], name: str) -> Callable[..., Any]:
        """A function of templates that is noted when it is called."""

        def called(*args: Any, **named: Any) -> Any:
            self._judge(Used.FUNCTION, f"ansible.builtin.{name}")
            return original(*args, **named)

        return called

    def compiles(self, source: Any) -> None:
        """A template is compiled."""
        if self._listens and isinstance(source, str):
            for variable in FILE_VARIABLES:
                if variable in source:
                    self._found(f"`{variable}` depends on a file or the time")

    def _judge(self, used: Used, name: str) -> None:
        if self._listens and not (purity := purity_of(used, name)).is_pure:
            self._found(f"{used.value} `{name.removeprefix('ansible.builtin.')}` {purity.reason}")

    def _judge_jinja(self, loader: Any, key: str) -> None:
        used = _JINJA[loader.type]
        try:
            plugin = loader.get(key)
        except Exception:  # Jinja's own names are no plugins
            plugin = None
        if plugin is None:
            full: str = f"ansible.builtin.{key}"
        else:
            path = getattr(plugin, "_original_path", "") or ""
            full = self._full_name(path, f"plugins/{loader.type}", key)
        if full:
            self._judge(used, full)
        else:
            self._found(f"{used.value} `{key}` is the project's own")

    def _judge_lookup(self, name: str, plugin: Any, *, is_class: bool) -> None:
        path = getattr(plugin, "_original_path", "") or ""
        full = self._full_name(path, "plugins/lookup", name)
        if not full:
            self._found(f"lookup `{name}` is the project's own")
        elif full == "ansible.builtin.env" and not is_class:
            _before_run(plugin, self._asks_environment)
        else:
            self._judge(Used.LOOKUP, full)
            if not is_class and purity_of(Used.LOOKUP, full).reads_files:
                _before_run(plugin, self._looks_for)
                plugin.find_file_in_search_path = self._searches(plugin)
            if full == "kubernetes.core.k8s" and not is_class:
                _before_run(plugin, lambda _, named: self._asks_elsewhere(full, named))

    def _judge_other(self, kind: str, name: str, plugin: Any) -> None:
        path = str(getattr(plugin, "_original_path", "") or "")
        usual, what = _OTHERS[kind]
        if kind == "cache" and _is_of_this_run(os.environ.get("ANSIBLE_CACHE_PLUGIN_CONNECTION")):
            return
        if path != f"{self._core_folder}plugins/{kind}/{usual}.py":
            self._found(f"{kind} plugin `{name}` {what}")

    def _asks_environment(self, terms: Any, _named: Any) -> None:
        for term in terms if isinstance(terms, list | tuple) else [terms]:
            words = str(term).split()
            if words and words[0] not in self._variables:
                self._variables.add(words[0])
                self._report({"r": "used", "variable": words[0][:_LONGEST_TEXT]})

    def _looks_for(self, terms: Any, named: Any) -> None:
        """Whether a file is there is an input only below the project."""
        for text in (*_texts(terms), *_texts(dict(named or {}, variables=None))):
            for part in text.split():
                path = part.partition("=")[2] or part
                if path.startswith(("/", "~")):
                    self.opened.look_at(path)

    def _looks_for_arguments(self, arguments: Any) -> None:
        """Files that a task names: what is there and what may come."""
        given = dict(arguments or {})
        for name in _PATHS:
            for text in _texts(given.get(name)):
                if text.startswith(("/", "~")):
                    self.opened.look_at(text)
                elif ".." in text:
                    self._found(f"it looks for `{text}`, which may lie outside of the project")
        if given.get("extensions"):
            self._found("`extensions` of `include_vars` may take files that are no input")

    def loads_file(
        self, original: Callable[..., Any], loader: Any, name: Any, /, *args: Any, **named: Any
    ) -> Any:
        """The stand-in for `DataLoader.load_from_file`: variables, tasks, and all else in YAML."""
        if self._listens and isinstance(name, str):
            self.opened.look_at(name if name.startswith("/") else f"{loader.get_basedir()}/{name}")
        return original(loader, name, *args, **named)

    def _searches(self, plugin: Any) -> Callable[..., Any]:
        """The plugin's search for a file: where nothing is found, something may come."""
        search = plugin.find_file_in_search_path

        def searched(variables: Any, subdir: Any, needle: Any, *args: Any, **named: Any) -> Any:
            found = search(variables, subdir, needle, *args, **named)
            if found and self._listens:
                self.opened.look_at(found)
            elif self._listens:
                for folder in variables.get("ansible_search_path") or ():
                    self.opened.look_at(f"{folder}/{needle}")
            return found

        return searched

    def calls_method(
        self, original: Callable[..., Any], context: Any, /, *args: Any, **named: Any
    ) -> Any:
        """The stand-in for `Context.call`: a template calls something, perhaps a clock."""
        if self._listens and args and getattr(args[0], "__name__", "") in _CLOCKS:
            owner = getattr(args[0], "__self__", None)
            if isinstance(owner, type) and issubclass(owner, date):
                self._found(f"`{args[0].__name__}` of a date reads the clock")
        return original(context, *args, **named)

    def _asks_elsewhere(self, full: str, arguments: Any) -> None:
        given = {name: value for name, value in dict(arguments or {}).items() if value}
        ours = {os.environ.get("KUBECONFIG"), os.environ.get("K8S_AUTH_KUBECONFIG")}
        if given.get("kubeconfig") in ours:
            del given["kubeconfig"]
        if elsewhere := asks_elsewhere(given):
            self._found(f"`{full}` with `{elsewhere}` may ask another API server")

    def _environment_leads_elsewhere(self, action: Any) -> None:
        if not action._task.environment:
            return
        environment: dict[str, Any] = {}
        action._compute_environment_string(environment)
        for name in environment:
            if str(name).upper().startswith(("K8S_", "KUBE", "HTTP", "NO_PROXY")):
                self._found(f"`{name}` in `environment` may lead to another API server")

    def _full_name(self, path: str, below: str, name: str) -> str:
        """Collection and name of a plugin, by where its file lies; empty: it is nobody's we know."""
        short = name.rpartition(".")[2].removeprefix("_")
        if path.startswith(f"{self._core_folder}{below}/"):
            return f"ansible.builtin.{short}"
        _before, found, rest = path.rpartition("/ansible_collections/")
        parts = rest.split("/")
        return f"{parts[0]}.{parts[1]}.{short}" if found and len(parts) > 2 else ""

    def _found(self, what: str) -> None:
        """The first thing that is not pure; after that, nobody need listen."""
        if self._listens:
            self._listens = False
            self._report({"r": "used", "impure": what[:_LONGEST_TEXT], "place": self._place})

    def _report(self, message: dict[str, Any]) -> None:
        # At once: a forked worker's memory is lost with it.
        if self._sock is not None:
            try:
                report(self._sock, message)
            except OSError:  # the engine is gone, which the tally finds out
                self._sock = None


def _is_of_this_run(folder: str | None) -> bool:
    """Whether facts are kept where no other run finds them; ansible-runner sees to that."""
    own = os.environ.get("AWX_ISOLATED_DATA_DIR")
    return bool(own and folder and folder.startswith(f"{own}/"))


def _before_run(plugin: Any, note: Callable[[Any, Any], None]) -> None:
    run = plugin.run

    def noted(terms: Any = None, *args: Any, **named: Any) -> Any:
        note(terms, named)
        return run(terms, *args, **named)

    plugin.run = noted


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in _texts(item)]
    return []
