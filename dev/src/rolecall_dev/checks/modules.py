"""Tasks against their modules: is there such a collection and module?

A collection that is not installed here is a note of another check, unless its name is nearly that of
one that is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.json_object import Json
from rolecall_dev.checks.module_docs import ModuleDocs
from rolecall_dev.checks.nearest import meant, nearest
from rolecall_dev.sources import (
    BLOCKS,
    KEYWORDS,
    Document,
    Findings,
    Sources,
    Step,
    Task,
    as_map,
    is_play,
    read_documents,
)

# What Ansible ships for tasks but has no file for.
_OWN_FOLDERS = ("library", "action_plugins", "plugins/modules", "plugins/action")


def check_modules(sources: Sources, docs: ModuleDocs, findings: Findings) -> set[str]:
    """Look at each task of the project's own; the modules of which there is none."""
    if not docs.has_ansible:
        findings.notes.append("modules were not checked, since ansible-core is not installed")
        return set()
    own = _own_modules(sources, docs)
    tasks = [task for task in sources.tasks if _is_call(task) and sources.is_own(task.document)]
    wanted = _wanted(sources)
    sound = [
        task
        for task in tasks
        if not _is_removed(task, docs, findings)
        and _names_module(task, docs, [*wanted, *docs.collections()], own, findings)
    ]
    why_not = docs.learn({task.module for task in sound} - own)
    if why_not:
        findings.notes.append(f"arguments of modules were not checked: ansible-doc said: {why_not}")
    has_defaults = any("module_defaults" in task.data for task in sources.tasks)
    for task in sound:
        if task.module in docs.options:
            call = DocumentedTask(task, docs.options[task.module], has_defaults)
            check_module_arguments(call, findings)
    unknown_lines = {problem.line for problem in findings.problems if problem.rule == findings.rule}
    return (
        {task.module for task in tasks if task.line(task.module) in unknown_lines}
        - docs.known
        - own
    )


def _is_call(task: Task) -> bool:
    """Whether it is a task, and not a play, a block, or an entry of `roles`."""
    is_role = "roles" in task.path or "dependencies" in task.path or "role" in task.data
    is_block = any(key in task.data for key in (*BLOCKS, "tasks", "roles"))
    named_by_action = "action" in task.data or "local_action" in task.data
    return not (is_play(task) or is_role or is_block or named_by_action)


def _names_module(
    task: Task, docs: ModuleDocs, collections: Sequence[str], own: set[str], findings: Findings
) -> bool:
    file = task.document.file
    if not task.modules:
        findings.error(file, task.line(), "the task names no module, so Ansible refuses the file")
        return False
    if len(task.modules) > 1:
        _report_two_modules(task, docs, own, findings)
        return False
    collection, _, name = task.module.rpartition(".")
    if task.module in own or "{{" in task.module:
        return False
    if len(collection.split(".")) > 2:  # in a folder of its own
        collection, name = ".".join(collection.split(".")[:2]), task.module.split(".", 2)[2]
    known = docs.modules_of(collection)
    if known is None:
        _report_collection(task, collection, collections, findings)
        return False
    if name in known:
        return True
    place = f"in `{collection}`" if collection else "of Ansible's own"
    near = nearest(name, known)
    whole = f"{collection}.{near}" if collection else near
    hint = f"; did you mean `{whole}`?" if near else ""
    if not near and not collection and not nearest(name, KEYWORDS):
        hint = "; a module of a collection is written with it, such as `kubernetes.core.k8s`"
    findings.error(
        file,
        task.line(task.module),
        f"there is no module `{name}` {place}{hint or meant(name, KEYWORDS)}",
    )
    return False


def _is_removed(task: Task, docs: ModuleDocs, findings: Findings) -> bool:
    why = docs.why_gone(task.module)
    if why:
        what = f"module `{task.module}` was removed, so the task fails"
        findings.error(*task.place(task.module), what, hint=why)
    return bool(why)


def _report_two_modules(task: Task, docs: ModuleDocs, own: set[str], findings: Findings) -> None:
    """Ansible calls these conflicting action statements."""
    built_in = docs.modules_of("") or set()
    strange = [it for it in task.modules if "." not in it and it not in built_in | own]
    if not strange:
        names = " and ".join(f"`{name}`" for name in task.modules)
        what = f"the task names two modules, {names}: each needs a task of its own"
        findings.error(*task.place(task.modules[1]), what)
    for name in strange:
        what = f"`{name}` is neither a keyword of a task nor a module{meant(name, KEYWORDS)}"
        findings.error(*task.place(name), what)


def _report_collection(
    task: Task, collection: str, known: Sequence[str], findings: Findings
) -> None:
    if collection in known:
        return  # it is required and not installed here, which is reported already
    near = nearest(collection, known)
    if near:
        name = task.module.rpartition(".")[2]
        what = f"there is no collection `{collection}`; did you mean `{near}.{name}`?"
        findings.error(*task.place(task.module), what)


def _wanted(sources: Sources) -> list[str]:
    """Collections that the project's requirements.yml lists."""
    found = []
    for name in ("requirements.yml", "requirements.yaml", "collections/requirements.yml"):
        path = sources.cwd / name
        for document in read_documents(path, sources.cwd, Findings()) if path.is_file() else []:
            entries = as_map(document.data).get("collections")
            for entry in entries if isinstance(entries, list) else []:
                found.append(str(as_map(entry).get("name", "")) or str(entry))
    return [name for name in found if re.fullmatch(r"\w+\.\w+", name)]


def _own_modules(sources: Sources, docs: ModuleDocs) -> set[str]:
    """Short names that are no module of Ansible's: of project, roles, and `collections`."""
    roots = [sources.cwd, *sources.roles, *(role.parent for role in sources.roles)]
    found = {
        path.stem
        for root in roots
        for name in _OWN_FOLDERS
        for path in Path(root, name).glob("*.py")
    }
    for collection in _searched(sources):
        modules = docs.modules_of(collection)
        # One that is not here may have any name.
        found |= modules if modules is not None else _short_names(sources)
    return found - (docs.modules_of("") or set())


def _short_names(sources: Sources) -> set[str]:
    return {task.module for task in sources.tasks if "." not in task.module}


def _searched(sources: Sources) -> set[str]:
    """What plays and roles list under `collections`."""
    lists = [task.data.get("collections") for task in sources.tasks]
    for path in (role / "meta" / "main.yml" for role in sources.roles):
        documents = read_documents(path, sources.cwd, Findings()) if path.is_file() else []
        lists += [as_map(document.data).get("collections") for document in documents]
    return {str(name) for names in lists if isinstance(names, list) for name in names}


# Arguments of a task against the documentation of its module, suboptions too.
# What a template makes is not judged, and a module without documentation takes anything.

# These take any argument, or hand theirs on to another module.
_TAKE_ANY = frozenset(("set_fact", "add_host", "package", "service", "gather_facts", "setup"))
_FREE_FORMS = frozenset(("free_form", "free-form", "key_value", "_raw_params", "cmd"))
_TRUE_OR_FALSE = frozenset(
    ("true", "false", "yes", "no", "on", "off", "y", "n", "t", "f", "1", "0", "1.0", "0.0")
)


@dataclass(frozen=True, slots=True)
class DocumentedTask:
    """A task and what its module takes."""

    task: Task
    options: Json
    has_defaults: bool  # `module_defaults` may give what is required


def check_module_arguments(call: DocumentedTask, findings: Findings) -> None:
    """Report unknown arguments of the module, values that it rejects, and missing arguments."""
    if call.task.short in _TAKE_ANY:
        return
    given, extra = call.task.arguments, call.task.data.get("args")
    if _is_template(given) or _is_template(extra):
        return
    named = call.task.named_arguments
    if isinstance(given, str) and (not named or _FREE_FORMS & call.options.keys()):
        return
    place = _At(call.task.document, (*call.task.path, call.task.module), call.task.module)
    _check_names(named, call.options, place, findings)
    _check_required(call, named, place, findings)


@dataclass(frozen=True, slots=True)
class _At:
    """Where arguments stand, and of what."""

    document: Document
    path: tuple[Step, ...]
    owner: str


def _check_names(given: Json, options: Json, at: _At, findings: Findings) -> None:
    names = dict(_names(options))
    for name, value in given.items():
        if not isinstance(name, str) or "{{" in name:
            continue
        line = at.document.line(*at.path, name)
        if name not in names:
            if not _FREE_FORMS & options.keys() or nearest(name, names):
                known = ", ".join(sorted(options))
                hint = meant(name, names) or f"; it takes {known}"
                what = f"`{at.owner}` takes no argument `{name}`{hint}"
                findings.error(at.document.file, line, what)
            continue
        for why in _value_faults(value, names[name]):
            what = f"argument `{name}` of `{at.owner}` {why}"
            findings.error(at.document.file, line, what)
        _check_below(name, value, names[name], at, findings)


def _check_below(name: str, value: Any, option: Json, at: _At, findings: Findings) -> None:
    below = as_map(option.get("suboptions"))
    if not below:
        return
    path = (*at.path, name)
    owner = f"{name}` of `{at.owner}"
    if isinstance(value, dict):
        _check_names(value, below, _At(at.document, path, owner), findings)
    for index, item in enumerate(value if isinstance(value, list) else []):
        if isinstance(item, dict):
            _check_names(item, below, _At(at.document, (*path, index), owner), findings)


def _names(options: Json) -> Iterator[tuple[str, Json]]:
    for name, data in options.items():
        option = as_map(data)
        yield name, option
        for alias in option.get("aliases") or []:
            yield alias, option


def _value_faults(value: Any, option: Json) -> Iterator[str]:
    if _is_template(value) or value is None or isinstance(value, list | dict):
        if option.get("type") in ("int", "float", "bool") and isinstance(value, list | dict):
            kind = "a list" if isinstance(value, list) else "a map"
            yield f"is {kind}, and must be {option['type']}"
        return
    text = str(value)
    choices = [str(choice) for choice in option.get("choices") or []]
    if choices and option.get("type", "str") == "str" and text not in choices:
        lowered = {choice.lower() for choice in choices}
        if text.lower() not in lowered:
            allowed = ", ".join(choices)
            yield f"is `{text}`, and must be one of {allowed}{meant(text, choices)}"
    if option.get("type") in ("int", "float") and not re.fullmatch(r"\s*[-+]?[\d_.eE+-]+\s*", text):
        yield f"is `{text}`, and must be a number"
    if option.get("type") == "bool" and text.lower() not in _TRUE_OR_FALSE:
        yield f"is `{text}`, and must be true or false"


def _check_required(call: DocumentedTask, named: Json, at: _At, findings: Findings) -> None:
    if call.has_defaults:
        return
    for name, data in call.options.items():
        option = as_map(data)
        names = (name, *(option.get("aliases") or []))
        is_missing = option.get("required") and not any(each in named for each in names)
        if is_missing and name not in _FREE_FORMS:
            what = f"`{at.owner}` needs the argument `{name}`"
            findings.error(at.document.file, call.task.line(call.task.module), what)


def _is_template(value: Any) -> bool:
    return isinstance(value, str) and ("{{" in value or "{%" in value)
