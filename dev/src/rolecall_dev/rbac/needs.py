"""Adds up what a project needs: the engine's own share of each watch, its roles, and records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall.runner import cr_variable
from rolecall.watches import Play, Watch
from rolecall_dev.rbac.kinds import KindNames, read_plain
from rolecall_dev.rbac.rights import Right, Rights
from rolecall_dev.rbac.tasks import TaskReader
from rolecall_dev.sources import CRD_FOLDERS, resources_of_no_namespace

# What plays really asked for, from the lines that `rolecall run --proxy-record FILE` wrote.

_WATCHED = ("list", "watch")  # what the engine does with what plays create


def add_record(path: Path, rights: Rights) -> None:
    """Add the rights of a record. A request that was refused was asked for all the same."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"the record `{path}` could not be read: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            group, resource, verb = row.get("group"), row.get("resource"), row["verb"]
        except (ValueError, KeyError, AttributeError) as error:
            raise InputError(
                f"{path}:{number}: is not a line of a record",
                hint="records are written by `rolecall run --proxy-record FILE`",
            ) from error
        if not resource or group is None:
            continue  # discovery and other paths, which every account may read
        whole = f"{resource}/{row['subresource']}" if row.get("subresource") else resource
        verbs = (verb, *_WATCHED) if verb == "create" and whole == resource else (verb,)
        rights.add(group, whole, verbs, f"recorded for {row.get('for', 'a play')}")


# Rights for what extensions do after runs: to prune, and to watch what was read.
# What a role reads through a shell or with kinds that only a run knows is not found here; the engine
# then says which rule lacks.
def add_for_extensions(watch: Watch, own: Rights, kinds: KindNames, rights: Rights) -> None:
    """Given what the watch's own play does."""
    for asked in watch.of_extensions:
        named = {(gvk.group, kinds.resource(gvk.group, gvk.kind)[0]) for gvk in asked.named_kinds}
        for place, verbs in own.by_resource().items():
            if "/" not in place[1]:
                added = asked.verbs_after(set(verbs), place, is_named=place in named)
                rights.add(*place, added, f"{asked.purpose}, for {watch.gvk.kind}")


_READING = frozenset({"get", "list", "watch"})
_REACHING_OUT = frozenset({"attach", "exec", "portforward", "proxy"})


@dataclass(frozen=True, slots=True)
class RightsSources:
    cwd: Path
    watches: Sequence[Watch]
    records: Sequence[Path] = ()


@dataclass(slots=True)
class Derived:
    """What is needed, and what could not be known."""

    rights: Rights = field(default_factory=Rights)
    own: Rights = field(default_factory=Rights)  # in the operator's namespace alone
    notes: list[str] = field(default_factory=list)
    of_no_namespace: frozenset[tuple[str, str]] = frozenset()  # (group, plural)

    def belongs_to_no_namespace(self, right: Right) -> bool:
        """Whether a Role could not grant it."""
        return (right.group, right.resource.partition("/")[0]) in self.of_no_namespace


def derive(sources: RightsSources) -> Derived:
    """Everything that the project needs beyond the engine's general rights."""
    crds = _crds(sources.cwd)
    derived = Derived(of_no_namespace=resources_of_no_namespace(crds))
    kinds = KindNames.of(crds)
    for watch in sources.watches:
        _add_watch(watch, kinds, derived)
    asked = Rights()
    crs = _crs(sources.watches)
    for rights, rows in (
        (derived.rights, [(watch, watch.cr_plays) for watch in sources.watches]),
        (asked, [(watch, watch.reading_plays) for watch in sources.watches]),
    ):
        _read_plays(TaskReader(kinds, rights, derived.notes, sources.cwd, crs), rows)
    for watch in sources.watches:
        if watch.of_extensions:
            own = Rights()
            reader = TaskReader(kinds, own, [], sources.cwd, crs)
            _read_plays(reader, [(watch, [watch.play])])
            add_for_extensions(watch, own, kinds, derived.rights)
        for kept in watch.kept_things:
            derived.own.add(*kept.resource, kept.verbs, f"{kept.what}, for {watch.gvk.kind}")
    _add_reads(asked, derived.rights)
    for record in sources.records:
        add_record(record, derived.rights)
    if not sources.records:
        files = dict.fromkeys(file for watch in sources.watches for file in watch.python_files)
        for file in files:
            shown = file.relative_to(sources.cwd) if file.is_relative_to(sources.cwd) else file
            derived.notes.append(
                f"{shown}: requests of handlers are not read from code; use --record"
            )
    derived.notes = list(dict.fromkeys(derived.notes))
    return derived


def _read_plays(reader: TaskReader, rows: Sequence[tuple[Watch, Sequence[Play]]]) -> None:
    for play, own in _plays(rows):
        reader.own = own
        if play.is_role:
            reader.read_role(play.path)
        else:
            reader.read_playbook(play.path)


def _add_watch(watch: Watch, kinds: KindNames, derived: Derived) -> None:
    plural, is_known = kinds.resource(watch.gvk.group, watch.gvk.kind)
    if not is_known:
        derived.notes.append(f"the resource of {watch.gvk.group_kind} was guessed to be `{plural}`")
    reason = f"the engine, for {watch.gvk.kind}"
    needs = {
        plural: ("get", "list", "watch", "patch"),
        f"{plural}/finalizers": ("update",),
    }
    if watch.manage_status:
        needs[f"{plural}/status"] = ("get", "patch")
    for resource, verbs in needs.items():
        derived.rights.add(watch.gvk.group, resource, verbs, reason)


def _add_reads(asked: Rights, rights: Rights) -> None:
    """What plays of admission would write, the proxy refuses them, whatever the operator's rights."""
    for right in asked:
        reaches_out = right.resource.partition("/")[2] in _REACHING_OUT
        if right.verb in _READING and not reaches_out:
            for reason in asked.reasons[right]:
                rights.add(right.group, right.resource, (right.verb,), reason)


def _plays(rows: Sequence[tuple[Watch, Sequence[Play]]]) -> list[tuple[Play, list[Gvk]]]:
    """Each play once, with the kinds that it is for."""
    plays = [(play, watch.gvk) for watch, own in rows for play in own]
    kinds: dict[Path, list[Gvk]] = {}
    for play, gvk in plays:
        kinds.setdefault(play.path, []).append(gvk)
    return [(play, kinds[play.path]) for play in {it.path: it for it, _ in plays}.values()]


def _crs(watches: Sequence[Watch]) -> dict[str, Any]:
    """The variables that carry CRs in plays, as far as they are known without one."""
    return {
        cr_variable(watch.gvk): {"apiVersion": watch.gvk.api_version, "kind": watch.gvk.kind}
        for watch in watches
    }


def _crds(cwd: Path) -> list[dict[str, Any]]:
    paths = [path for folder in CRD_FOLDERS for path in sorted((cwd / folder).glob("*.y*ml"))]
    documents = [document for path in paths for document in read_plain(path)]
    return [it for it in documents if it.get("kind") == "CustomResourceDefinition"]


def made_by(watch: Watch, cwd: Path) -> list[dict[str, str]]:
    """Kinds that a watch's play creates or deletes, as far as its tasks say so."""
    known = KindNames.of(_crds(cwd)).known
    kinds = {(group, plural): kind for (group, kind), plural in known.items()}
    rights = derive(RightsSources(cwd, [watch])).rights
    made = {(it.group, it.resource) for it in rights if it.verb in ("create", "delete")}
    return [
        {"kind": kinds[key], "name": "", "version": "v1"}
        for key in sorted(made & kinds.keys())
        if key[1] != "events"
    ]
