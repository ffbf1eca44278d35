"""Variables that nothing in the project defines, in tasks, variables and templates.

We report only names that no place can define. So a name is known if any place of the project, in any
role, gives it a value, and we skip it if any expression tests whether it is defined. If something may
define names that are unknown here (a CR whose schema accepts any field, a missing role), we check
nothing, and a note states the reason. A collection that is not installed here defines few names, so
then the names are warnings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from jinja2 import TemplateError, meta, nodes

from rolecall.runner import cr_variable
from rolecall.watches import Watch
from rolecall_dev.checks.crds import PRESERVE, CrdVersion
from rolecall_dev.checks.expressions import expressions_of
from rolecall_dev.checks.module_docs import ModuleDocs
from rolecall_dev.checks.nearest import meant
from rolecall_dev.checks.porting import Variables
from rolecall_dev.checks.rule_tables import fact_names
from rolecall_dev.sources import (
    Findings,
    Sources,
    Task,
    as_map,
    read_documents,
    yaml_files,
)

# What Ansible itself, Jinja and the templates of tasks always know.
_ALWAYS = frozenset(
    """
    ansible_operator_meta environment group_names groups hostvars inventory_dir inventory_file
    inventory_hostname inventory_hostname_short item omit play_batch play_hosts playbook_dir
    role_name role_names role_path vars
    cycler dict joiner lipsum lookup namespace now q query range self undef varargs kwargs caller loop
    template_destpath template_fullpath template_host template_path template_run_date template_uid
    """.split()  # noqa: SIM905 - a list of words
)
# Collections whose modules are known to give no facts, but for these.
_NO_FACTS = (
    "",
    "ansible.builtin",
    "ansible.legacy",
    "kubernetes.core",
    "operator_sdk.util",
    "rolecall.operator",
)
_FACTS = {"service_facts": "services", "package_facts": "packages", "mount_facts": "mount_points"}
_FULL_NAME = re.compile(r"[A-Za-z_]\w*")
_GUARDS = ("default", "d")


def check_undefined(
    sources: Sources,
    watches: Sequence[tuple[Watch, CrdVersion | None]],
    variables: Variables,
    docs: ModuleDocs,
    findings: Findings,
) -> None:
    """Look at every expression of the project's own."""
    if why := _why_unknowable(sources, watches, docs):
        findings.notes.append(f"undefined variables were not looked for, since {why}")
        return
    uses = list(expressions_of(sources))
    known = {*_ALWAYS, *variables.names(), *_more_names(sources, docs)}
    known |= {name for watch, _ in watches for name in _cr_names(watch)}
    known |= set(fact_names(sources))
    if any(watch.reading_plays for watch, _ in watches):
        known.add("admission")
    known |= {name for use in uses for name in _handed_on(use.template)}
    guarded = {name for use in uses for name in _guarded(use.template)}
    reported: set[tuple[str, Any]] = set()
    uninstalled = _of_missing_collection(sources, docs)
    for use in uses:
        for name in sorted(_free(use.template) - known - guarded):
            if name.startswith(("ansible_", "molecule_")):
                continue
            line = use.line(name)
            if (name, (use.file, line)) not in reported:
                reported.add((name, (use.file, line)))
                hint = "; did you mean `ansible_operator_meta`?" if name == "meta" else ""
                hint = hint or meant(name, known)
                if not uninstalled:
                    what = f"nothing defines the variable `{name}`{hint}"
                    findings.error(use.file, line, what)
                    continue
                what = f"nothing that is installed here defines the variable `{name}`{hint}"
                hint = f"install the collection of `{uninstalled}`, which may define it"
                findings.warn(use.file, line, what, hint=hint)


def _cr_names(watch: Watch) -> tuple[str, str]:
    name = cr_variable(watch.gvk)
    return name, f"{name}_spec"


def _why_unknowable(
    sources: Sources, watches: Sequence[tuple[Watch, CrdVersion | None]], docs: ModuleDocs
) -> str:
    for watch, version in watches:
        if version is None:
            return f"the fields of `{watch.gvk.kind}` are not known: its CRD is not here"
        spec = version.schema("spec")
        if any(
            part.get(PRESERVE) or part.get("additionalProperties")
            for part in (spec, version.schema())
        ):
            return f"the fields of `{watch.gvk.kind}` are not known: its CRD takes any"
    if away := [task for task, name in sources.roles_not_found if not _is_missing(name, docs)]:
        task = away[0]
        place = f"{task.document.file}:{task.line()}"
        return f"a role that is included at {place} is not in this project"
    for task in sources.tasks:
        name = task.module
        collection = name.rpartition(".")[0]
        is_call = bool(name) and not {"hosts", "role", "tasks"} & task.data.keys()
        is_unknown = is_call and collection not in _NO_FACTS and name not in docs.known
        if is_unknown and not _is_missing(name, docs):
            return f"what `{name}` returns is not known here"
    return ""


def _of_missing_collection(sources: Sources, docs: ModuleDocs) -> str:
    """A module or role that a collection has which is not installed here; empty: there is none."""
    named = [
        task.module
        for task in sources.tasks
        if task.module not in docs.known and task.module.rpartition(".")[0] not in _NO_FACTS
    ]
    named += [name for _, name in sources.roles_not_found]
    return next((name for name in named if _is_missing(name, docs)), "")


def _is_missing(name: str, docs: ModuleDocs) -> bool:
    """Whether it is the full name of something in a collection that is not installed here."""
    parts = name.split(".")
    return len(parts) > 2 and docs.modules_of(".".join(parts[:2])) is None


def _more_names(sources: Sources, docs: ModuleDocs) -> Iterator[str]:
    """What defines variables beside those that are assigned in so many words."""
    for role in sources.roles:
        for path in (*yaml_files(role / "meta"), *yaml_files(role / "vars")):
            for document in read_documents(path, sources.cwd, Findings()):
                yield from _argument_names(as_map(document.data))
                yield from map(str, as_map(document.data))
    for task in sources.tasks:
        yield from _names_of(task, sources)
        yield from docs.fact_names.get(task.module, ())
        if fact := _FACTS.get(task.short):
            yield fact


def _argument_names(data: dict[str, Any]) -> Iterator[str]:
    for entry in as_map(data.get("argument_specs")).values():
        yield from map(str, as_map(as_map(entry).get("options")))


def _names_of(task: Task, sources: Sources) -> Iterator[str]:
    given = task.named_arguments
    if task.short in ("add_host", "include_vars", "set_stats"):
        yield from map(str, given)
        yield from map(str, as_map(given.get("data")))
        yield str(given.get("name"))
    prompts = task.data.get("vars_prompt")
    for prompt in prompts if isinstance(prompts, list) else []:
        yield str(as_map(prompt).get("name"))
    if task.short == "include_vars" or "vars_files" in task.data:
        # Whichever file it is: all that could be one.
        folder = sources.folder_of(task)
        for path in yaml_files(folder):
            for document in read_documents(path, sources.cwd, Findings()):
                yield from map(str, as_map(document.data))


def _free(template: nodes.Template) -> set[str]:
    try:
        return meta.find_undeclared_variables(template) - set(_set_in_branches(template))
    except (TemplateError, RecursionError):
        return set()


def _set_in_branches(template: nodes.Template) -> Iterator[str]:
    """Names that a branch sets: Jinja calls them undeclared, as the branch may not be taken."""
    for branch in template.find_all(nodes.If):
        for assigned in branch.find_all(nodes.Assign):
            yield from _root(assigned.target)
        for filled in branch.find_all(nodes.AssignBlock):
            yield from _root(filled.target)


def _handed_on(template: nodes.Template) -> Iterator[str]:
    """Names that a template sets and that the templates which it includes then know."""
    if template.find(nodes.Include) is None:
        return
    for assigned in template.find_all(nodes.Assign):
        yield from _root(assigned.target)
    for filled in template.find_all(nodes.AssignBlock):
        yield from _root(filled.target)


def _guarded(template: nodes.Template) -> Iterator[str]:
    """Names that an expression tests for existence."""
    for test in template.find_all(nodes.Test):
        if test.name in ("defined", "undefined"):
            yield from _root(test.node)
    for each in template.find_all(nodes.Filter):
        if each.name.rpartition(".")[2] in _GUARDS and each.node is not None:
            yield from _root(each.node)
    for text in template.find_all(nodes.Const):  # `'x' in vars`, `lookup('vars', 'x')`
        if isinstance(text.value, str) and _FULL_NAME.fullmatch(text.value):
            yield text.value


def _root(node: nodes.Node) -> Iterable[str]:
    return [
        name.name for name in (node, *node.find_all(nodes.Name)) if isinstance(name, nodes.Name)
    ]
