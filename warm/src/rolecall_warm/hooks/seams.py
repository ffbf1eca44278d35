"""The only place that replaces anything of ansible-core: each seam by name, checked before use.

A seam is a function of ansible-core that we stand in front of. What a replacement assumes is what some
sources say (`sources`), so their digests are compared (`digests`) before anything is imported. What is
unknown has to prove itself before a run goes this way.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from dataclasses import dataclass
from typing import Any

from rolecall_warm.hooks import collection_paths, plain_data, plugin_folders
from rolecall_warm.hooks.digests import digests_of, known_digests, version_of_core
from rolecall_warm.hooks.sources import OLDEST, family_of, sources_of


def check() -> list[str]:
    """What is not as it was when the hooks were written; empty: all well."""
    version = version_of_core()
    if not version:
        return ["ansible-core is not installed"]
    family = family_of(version)
    if not family:
        return [f"ansible-core {version} is older than {OLDEST[0]}.{OLDEST[1]}"]
    known = known_digests()
    return [
        f"`{label}` is {f'unknown ({digest})' if digest else 'gone'}"
        for label, digest in digests_of(sources_of(family)).items()
        if digest not in known.get(label, {})
    ]


def install_new_process(new: Any) -> None:
    """Have plugins loaded as a new process would; before the host loads any."""
    loader = importlib.import_module("ansible.plugins.loader")
    _wrap_collection_loader(loader)
    _stand_before(loader.PluginLoader, "_load_module_source", new.load_module)
    _stand_before(loader.PluginLoader, "_load_config_defs", new.load_options)
    _stand_before(loader.PluginLoader, "_get_package_paths", new.package_paths)
    _stand_before(loader.PluginLoader, "_find_plugin_legacy", new.own_plugins.find)
    loader.glob = plugin_folders  # type: ignore[attr-defined]


def _stand_before(owner: Any, name: str, stand_in: Any) -> None:
    """Have calls of a method go to `stand_in`, which gets the original first."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return stand_in(original, self, *args, **kwargs)

    setattr(owner, name, method)


@dataclass(frozen=True, slots=True)
class Hooks:
    """What stands in front of ansible-core's own."""

    inline: Any
    modules: Any
    events: Any
    templates: Any
    names: Any
    parsed: Any
    copies: Any
    keywords: Any
    uses: Any
    planning: Any


def install(hooks: Hooks, environment: type, clock: tuple[Any, str]) -> None:
    """Put them in place, templates at this class of environment. Once, in the host, after `check`.

    `clock` is where the function `now` of templates is taken from.
    """
    strategy = importlib.import_module("ansible.plugins.strategy")
    action = importlib.import_module("ansible.plugins.action")
    loader = importlib.import_module("ansible.plugins.loader")
    _stand_before(loader.Jinja2Loader, "get_with_context", hooks.names.find)
    _stand_before(loader.PluginLoader, "get_with_context", hooks.uses.find_plugin)
    _stand_before(loader.PluginLoader, "get_with_context", hooks.planning.find_plugin)
    _stand_before(loader.PluginLoader, "all", hooks.planning.all_plugins)
    _wrap_functions(clock, hooks.uses)
    _wrap_init_parser(importlib.import_module("ansible.cli.playbook").PlaybookCLI)
    queue = importlib.import_module("ansible.executor.task_queue_manager")
    _stand_before(queue.TaskQueueManager, "load_callbacks", hooks.events.load_callbacks)
    _stand_before(queue.TaskQueueManager, "load_callbacks", hooks.planning.load_callbacks)
    _stand_before(strategy.StrategyBase, "_queue_task", hooks.inline.queue_task)
    strategy.WorkerProcess = hooks.inline.worker  # type: ignore[attr-defined]
    _wrap_execute_module(action.ActionBase, hooks.modules)
    _stand_before(action.ActionBase, "_make_tmp_path", hooks.modules.make_tmp_path)
    _stand_before(action.ActionBase, "_remove_tmp_path", hooks.modules.remove_tmp_path)
    _wrap_environment(environment, hooks.templates)
    _note_uses_in(environment, hooks.uses)
    dataloader = importlib.import_module("ansible.parsing.dataloader")
    _stand_before(dataloader.DataLoader, "load", hooks.parsed.load)
    _stand_before(dataloader.DataLoader, "load", hooks.copies.load)
    _stand_before(dataloader.DataLoader, "load_from_file", hooks.copies.load_from_file)
    _stand_before(dataloader.DataLoader, "load_from_file", hooks.uses.loads_file)
    dataloader.copy = hooks.copies  # type: ignore[attr-defined]
    base = importlib.import_module("ansible.playbook.base").FieldAttributeBase
    _stand_before(base, "copy", hooks.keywords.copy)
    _stand_before(base, "post_validate", hooks.keywords.post_validate)
    _wrap_copies_of_results(importlib.import_module("ansible.utils.vars"))
    _wrap_clean_facts(importlib.import_module("ansible.vars.manager"))


def _wrap_collection_loader(loader: Any) -> None:
    original = loader._configure_collection_loader

    @functools.wraps(original)
    def configure_collection_loader(prefix_collections_path: Any = None) -> None:
        finder = loader.AnsibleCollectionConfig.collection_finder
        if prefix_collections_path or not finder:
            original(prefix_collections_path)
        else:  # The host did it already, with the same settings; folders may have come and gone.
            collection_paths.look_again(finder, made())

    loader._configure_collection_loader = configure_collection_loader
    made = _noting_arguments(loader._AnsibleCollectionFinder)
    _stand_before(
        loader._AnsibleCollectionFinder, "set_playbook_paths", collection_paths.set_playbook_paths
    )


def _noting_arguments(finder_class: Any) -> Any:
    """Has another finder made with the arguments of the last one."""
    asked: dict[str, Any] = {}

    def init(original: Any, finder: Any, *args: Any, **kwargs: Any) -> None:
        asked.update(args=args, kwargs=kwargs)
        original(finder, *args, **kwargs)

    _stand_before(finder_class, "__init__", init)
    return lambda: finder_class(*asked["args"], **asked["kwargs"])


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


def _wrap_execute_module(action_base: Any, modules: Any) -> None:
    signature = inspect.signature(action_base._execute_module)

    def execute_module(original: Any, action: Any, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(action, *args, **kwargs)
        bound.apply_defaults()
        asked = dict(bound.arguments)
        asked.pop("self")
        return modules.execute(original, action, **asked)

    _stand_before(action_base, "_execute_module", execute_module)


def _wrap_copies_of_results(variables: Any) -> None:
    """From ansible-core 2.19 on; before that, results are what they are."""
    engine = sys.modules.get("ansible._internal._templating._engine")
    if engine is None:
        return
    _stand_before(engine.TemplateEngine, "transform", plain_data.transform)
    original = variables.transform_to_native_types

    @functools.wraps(original)
    def transform_to_native_types(*args: Any, **kwargs: Any) -> Any:
        return plain_data.to_native_types(original, *args, **kwargs)

    variables.transform_to_native_types = transform_to_native_types


def _wrap_clean_facts(manager: Any) -> None:
    """No search through all connection plugins, for each task, for facts that there are none of."""
    original = manager.clean_facts

    @functools.wraps(original)
    def clean_facts(facts: Any) -> Any:
        return {} if type(facts) is dict and not facts else original(facts)

    manager.clean_facts = clean_facts


def _wrap_functions(clock: tuple[Any, str], uses: Any) -> None:
    """Note when a template asks for the time, or for words by chance."""
    owner, name = clock
    setattr(owner, name, uses.calls(getattr(owner, name), "now"))
    names = importlib.import_module("jinja2.defaults").DEFAULT_NAMESPACE
    names["lipsum"] = uses.calls(names["lipsum"], "lipsum")


def _note_uses_in(environment: Any, uses: Any) -> None:
    """Note which filters and tests templates take, and what they say of files."""
    original = environment.compile

    def compile_(self: Any, source: Any, *args: Any, **kwargs: Any) -> Any:
        uses.compiles(source)
        return original(self, source, *args, **kwargs)

    _stand_before(type(environment().filters), "__getitem__", uses.find_jinja)
    _stand_before(environment.context_class, "call", uses.calls_method)
    importlib.import_module("jinja2.utils").internal_code.add(compile_.__code__)
    environment.compile = compile_


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
