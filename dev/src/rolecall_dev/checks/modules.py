"""Tasks against their modules: is there such a collection and module?

A collection that is not installed here is a note of another check, unless its name is nearly that of
one that is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rolecall_dev.checks.module_arguments import DocumentedTask, check_module_arguments
from rolecall_dev.checks.module_docs import ModuleDocs
from rolecall_dev.checks.nearest import meant, nearest
from rolecall_dev.sources import (
    BLOCKS,
    KEYWORDS,
    Findings,
    Sources,
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
    told = {problem.line for problem in findings.problems if problem.rule == findings.rule}
    return {task.module for task in tasks if task.line(task.module) in told} - docs.known - own


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
        _tell_two(task, docs, own, findings)
        return False
    collection, _, name = task.module.rpartition(".")
    if task.module in own or "{{" in task.module:
        return False
    if len(collection.split(".")) > 2:  # in a folder of its own
        collection, name = ".".join(collection.split(".")[:2]), task.module.split(".", 2)[2]
    known = docs.modules_of(collection)
    if known is None:
        _tell_collection(task, collection, collections, findings)
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
        findings.error(task.document.file, task.line(task.module), what, hint=why)
    return bool(why)


def _tell_two(task: Task, docs: ModuleDocs, own: set[str], findings: Findings) -> None:
    """Ansible calls these conflicting action statements."""
    built_in = docs.modules_of("") or set()
    strange = [it for it in task.modules if "." not in it and it not in built_in | own]
    if not strange:
        names = " and ".join(f"`{name}`" for name in task.modules)
        what = f"the task names two modules, {names}: each needs a task of its own"
        findings.error(task.document.file, task.line(task.modules[1]), what)
    for name in strange:
        what = f"`{name}` is neither a keyword of a task nor a module{meant(name, KEYWORDS)}"
        findings.error(task.document.file, task.line(name), what)


def _tell_collection(task: Task, collection: str, known: Sequence[str], findings: Findings) -> None:
    if collection in known:
        return  # it is wanted and not installed here, which is told already
    near = nearest(collection, known)
    if near:
        name = task.module.rpartition(".")[2]
        what = f"there is no collection `{collection}`; did you mean `{near}.{name}`?"
        findings.error(task.document.file, task.line(task.module), what)


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
