"""The only place that replaces anything of ansible-core: each seam by name, checked before use.

A seam is a function of ansible-core that we stand in front of. What a replacement assumes is what some
sources say, so those are declared with digests of their lines (comments, blank lines and indentation do
not count). `check` compares them before anything is imported; one surprise, and the host refuses to
serve: runs then go the stock way, and the log says why, once. A new ansible-core means: read what
changed, adapt the hook, add the digest that the failing contract test prints.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import importlib.util
import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rolecall.runner.warm.hooks.digests import READ_SOURCES


def digests_of(labels: Iterable[str]) -> dict[str, str]:
    """A digest of each source, by `module:name`; empty where it is gone. Imports nothing."""
    by_module: dict[str, list[str]] = {}
    for label in labels:
        module, _, name = label.partition(":")
        by_module.setdefault(module, []).append(name)
    return {
        f"{module}:{name}": digest
        for module, names in by_module.items()
        for name, digest in _digests_in(module, names).items()
    }


def _digests_in(module: str, names: list[str]) -> dict[str, str]:
    try:
        found = importlib.util.find_spec(module)
    except ImportError:
        found = None
    if found is None or found.origin is None:
        return dict.fromkeys(names, "")
    text = Path(found.origin).read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    return {name: _digest(_node(tree, name), lines) for name in names}


def _node(tree: ast.AST, name: str) -> ast.stmt | None:
    node: Any = tree
    for part in name.split("."):
        node = next(
            (
                child
                for child in getattr(node, "body", [])
                if isinstance(child, ast.FunctionDef | ast.ClassDef) and child.name == part
            ),
            None,
        )
    return node if isinstance(node, ast.stmt) else None


def _digest(node: ast.stmt | None, lines: list[str]) -> str:
    if node is None:
        return ""
    said = (line.strip() for line in lines[node.lineno - 1 : node.end_lineno])
    text = "\n".join(line for line in said if line and not line.startswith("#"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check() -> list[str]:
    """What is not as it was when the hooks were written; empty: all well."""
    problems = []
    for label, digest in digests_of(READ_SOURCES).items():
        if digest not in READ_SOURCES[label]:
            problems.append(f"`{label}` is {'gone' if not digest else f'unknown ({digest})'}")
    return problems


def install(inline: Any, modules: Any, events: Any, templates: Any, names: Any) -> None:
    """Put the hooks in place. Call once, in the host, after `check` was content."""
    strategy = importlib.import_module("ansible.plugins.strategy")
    action = importlib.import_module("ansible.plugins.action")
    loader = importlib.import_module("ansible.plugins.loader")
    _wrap_collection_loader(loader)
    _wrap_jinja_loader(loader.Jinja2Loader, names)
    _wrap_init_parser(importlib.import_module("ansible.cli.playbook").PlaybookCLI)
    queue = importlib.import_module("ansible.executor.task_queue_manager")
    _wrap_load_callbacks(queue.TaskQueueManager, events)
    _wrap_queue_task(strategy.StrategyBase, inline)
    strategy.WorkerProcess = inline.worker  # type: ignore[attr-defined]
    _wrap_execute_module(action.ActionBase, modules)
    _wrap_tmp_path(action.ActionBase, modules)
    jinja = importlib.import_module("ansible._internal._templating._jinja_bits")
    _wrap_environment(jinja.AnsibleEnvironment, templates)


def _wrap_collection_loader(loader: Any) -> None:
    original = loader._configure_collection_loader

    @functools.wraps(original)
    def configure_collection_loader(prefix_collections_path: Any = None) -> None:
        # The host did it already, with the same paths: they are part of its fingerprint.
        if prefix_collections_path or not loader.AnsibleCollectionConfig.collection_finder:
            original(prefix_collections_path)

    loader._configure_collection_loader = configure_collection_loader


def _wrap_jinja_loader(jinja_loader: Any, names: Any) -> None:
    original = jinja_loader.get_with_context

    @functools.wraps(original)
    def get_with_context(self: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs:
            return original(self, name, *args, **kwargs)
        return names.find(original, self, name)

    jinja_loader.get_with_context = get_with_context


def _wrap_init_parser(playbook_cli: Any) -> None:
    """Build the option parser once: a tenth of a short run, and the same for all runs of a host."""
    original = playbook_cli.init_parser
    builder = playbook_cli([playbook_cli.name, "play.yml"])
    original(builder)

    @functools.wraps(original)
    def init_parser(self: Any) -> None:
        # A run child parses one command line in its life, so it may have the host's own parser.
        self.parser = builder.parser

    playbook_cli.init_parser = init_parser


def _wrap_load_callbacks(queue_manager: Any, events: Any) -> None:
    original = queue_manager.load_callbacks

    @functools.wraps(original)
    def load_callbacks(self: Any) -> None:
        if not self._callback_plugins:
            events.take_hold()
        original(self)

    queue_manager.load_callbacks = load_callbacks


def _wrap_queue_task(strategy_base: Any, inline: Any) -> None:
    original = strategy_base._queue_task

    @functools.wraps(original)
    def queue_task(self: Any, host: Any, task: Any, task_vars: Any, play_context: Any) -> None:
        inline.queueing(self)
        original(self, host, task, task_vars, play_context)

    strategy_base._queue_task = queue_task


def _wrap_execute_module(action_base: Any, modules: Any) -> None:
    original = action_base._execute_module
    signature = inspect.signature(original)

    @functools.wraps(original)
    def execute_module(self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        asked = dict(bound.arguments)
        asked.pop("self")
        result: dict[str, Any] = modules.execute(original, self, **asked)
        return result

    action_base._execute_module = execute_module


def _wrap_tmp_path(action_base: Any, modules: Any) -> None:
    original_make, original_remove = action_base._make_tmp_path, action_base._remove_tmp_path

    @functools.wraps(original_make)
    def make_tmp_path(self: Any, remote_user: str | None = None) -> str:
        path: str = modules.make_tmp_path(original_make, self, remote_user)
        return path

    @functools.wraps(original_remove)
    def remove_tmp_path(self: Any, tmp_path: Any, force: bool = False) -> None:
        modules.remove_tmp_path(original_remove, self, tmp_path, force)

    action_base._make_tmp_path = make_tmp_path
    action_base._remove_tmp_path = remove_tmp_path


def _wrap_environment(environment: Any, templates: Any) -> None:
    original_compile = environment.compile
    original_expression = environment.compile_expression

    def compile_(self: Any, source: Any, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs:  # has a name or a file: a template that another one includes
            return original_compile(self, source, *args, **kwargs)
        return templates.compile(original_compile, self, source)

    def compile_expression(self: Any, source: str, undefined_to_none: bool = True) -> Any:
        return templates.compile_expression(original_expression, self, source, undefined_to_none)

    # Jinja hides the frames of such code from the tracebacks of templates.
    importlib.import_module("jinja2.utils").internal_code.add(compile_.__code__)
    environment.compile = compile_
    environment.compile_expression = compile_expression
