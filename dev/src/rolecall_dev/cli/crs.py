"""Which CRs a command is about, as the operator would see them: from files, or the cluster."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from rolecall.clock import SystemClock
from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials, CredentialsError, NotFoundError
from rolecall.reconcile import PAUSED_ANNOTATION
from rolecall.status import Started
from rolecall.watches import Watch


# Reads the one CR out of a file that a person wrote, and says what is wrong with it otherwise.
def read_cr(file: str, watches: Sequence[Watch]) -> tuple[dict[str, Any], Watch]:
    """The object of a watched kind in `file` (`-` is stdin), and its watch.

    A manifest may hold more, a Namespace for one; only the watched kinds count.
    """
    objects = read_objects(file)
    by_kind = {watch.gvk: watch for watch in watches}
    known = [found for found in objects if _gvk(found) in by_kind]
    if not known:
        kinds = ", ".join(f"`{_gvk(found).kind}` ({found['apiVersion']})" for found in objects)
        watched = ", ".join(f"{gvk.kind} ({gvk.api_version})" for gvk in by_kind) or "nothing"
        raise InputError(
            f"{file}: {kinds or 'no object'} was found, but no such kind is watched",
            hint=f"watches.yaml watches {watched}",
        )
    if len(known) > 1:
        names = ", ".join(f"{found['kind']} {found['metadata']['name']}" for found in known)
        raise InputError(
            f"{file}: {len(known)} objects of watched kinds were found: {names}",
            hint="put each into its own file; a run is for one object",
        )
    return known[0], by_kind[_gvk(known[0])]


def read_objects(file: str) -> list[dict[str, Any]]:
    """All objects of a file (`-` is stdin), and those in lists, as `kubectl get -o yaml` writes."""
    return [_checked(file, found) for document in _documents(file) for found in _of_list(document)]


def _of_list(document: Any) -> list[Any]:
    is_list = isinstance(document, dict) and str(document.get("kind", "")).endswith("List")
    items = document.get("items") if is_list else None
    return items if isinstance(items, list) else [document]


def _documents(file: str) -> list[Any]:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        return [found for found in yaml.safe_load_all(text) if found is not None]
    except OSError as error:
        raise InputError(f"{file}: could not be read: {error.strerror}") from error
    except (UnicodeDecodeError, yaml.reader.ReaderError) as error:
        raise InputError(f"{file}: is not text: {error}") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{file}:{mark.line + 1}" if mark else file
        raise InputError(f"{place}: is not valid YAML: {error.problem or error.context}") from error
    except RecursionError as error:
        raise InputError(f"{file}: is nested too deeply") from error


def _checked(file: str, found: Any) -> dict[str, Any]:
    metadata = found.get("metadata") if isinstance(found, dict) else None
    texts = (
        (found.get("apiVersion"), found.get("kind"), metadata.get("name"))
        if isinstance(metadata, dict)
        else ()
    )
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise InputError(
            f"{file}: contains a document that is not a Kubernetes object",
            hint="each one needs `apiVersion`, `kind` and `metadata.name`, as texts",
        )
    return dict(found)


def _gvk(found: dict[str, Any]) -> Gvk:
    return Gvk.parse(found["apiVersion"], found["kind"])


# `KIND/NAME` as people type it, held against the kinds that watches.yaml names.
# A kind may be written as `Website`, `website`, or with its group: `website.example.com`. Plurals are
# not known here; they are the API server's, which is asked only for what exists.
@dataclass(frozen=True, slots=True)
class NamedCr:
    """A CR in the cluster, not read yet."""

    watch: Watch
    name: str


def parse_named(text: str, watches: Sequence[Watch]) -> NamedCr:
    """The watch and the name; raises `InputError` with what there is."""
    kind, slash, name = text.partition("/")
    if not (kind and slash and name) or "/" in name:
        raise InputError(
            f"`{text}` is not the name of a CR; write KIND/NAME, such as `{_example(watches)}`",
            hint=f"`--cr FILE` runs the role of a CR in a file; for `{text}` that would be"
            f" `--cr {text}`",
        )
    found = [watch for watch in watches if kind.lower() in _spellings(watch)]
    if not found:
        raise _unknown(kind, watches)
    if len(found) > 1:
        # What the API server stores once, entries may name in several versions: any will do.
        groups = {watch.gvk.group for watch in found}
        if len(groups) > 1:
            names = ", ".join(f"`{watch.gvk.group_kind}`" for watch in found)
            raise InputError(f"`{kind}` is several kinds; write one of {names}")
    return NamedCr(found[0], name)


def _spellings(watch: Watch) -> set[str]:
    gvk = watch.gvk
    with_version = f"{gvk.kind}.{gvk.version}.{gvk.group}"
    return {text.lower() for text in (gvk.kind, gvk.group_kind, with_version)}


def _unknown(kind: str, watches: Sequence[Watch]) -> InputError:
    kinds = {watch.gvk.kind.lower(): watch.gvk.kind for watch in watches}
    near = get_close_matches(kind.lower(), kinds, n=1)
    watched = ", ".join(dict.fromkeys(kinds.values())) or "nothing"
    hint = f"did you mean `{kinds[near[0]]}`?" if near else f"watches.yaml watches {watched}"
    return InputError(f"the kind `{kind}` is not watched", hint=hint)


def _example(watches: Sequence[Watch]) -> str:
    return f"{watches[0].gvk.kind}/NAME" if watches else "Website/web"


# The user's own kubeconfig, where it says how a play or a plan is to begin.
def kubeconfig_of(environment: Mapping[str, str], *, is_needed: bool = True) -> Path:
    """Its path; raises `InputError` where it is needed and not there."""
    named = environment.get("KUBECONFIG") or str(Path("~/.kube/config").expanduser())
    files = [Path(each) for each in named.split(os.pathsep) if each]
    if is_needed and not any(file.is_file() for file in files):
        raise InputError(
            f"the kubeconfig `{named}` was not found, so the play would reach no cluster",
            hint="`rolecall cluster up` starts a cluster on this machine; else set KUBECONFIG",
        )
    return Path(named) if os.pathsep in named else files[0].absolute()


def current_namespace(environment: Mapping[str, str]) -> str:
    """The namespace that kubectl would take, as far as the kubeconfig can be read."""
    try:
        return Credentials.load(environment).namespace
    except CredentialsError:
        return "default"


# Which CRs `rolecall run-role` is about, as the operator would see them: from files, or the cluster.
# One from the cluster is taken as it lives: where it is being deleted, what runs is its finalizer.
# One from a file may not be there; then what the API server would have added is made up, and
# `--create` applies the file first.

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class FoundCr:
    """A CR whose role shall be run."""

    cr: dict[str, Any]
    watch: Watch
    notes: tuple[str, ...] = ()  # what the operator would do otherwise


async def read_named(
    named: list[NamedCr], namespace: str, environment: Mapping[str, str]
) -> list[FoundCr]:
    """Read CRs from the cluster; raises `InputError` for one that is not there."""
    async with Client(Credentials.load(environment)) as client:
        return [await read_with(client, one, namespace) for one in named]


async def create(
    crs: list[tuple[dict[str, Any], Watch]], environment: Mapping[str, str]
) -> list[str]:
    """Create those CRs that are not there; returns what was created."""
    created = []
    async with Client(Credentials.load(environment)) as client:
        for cr, watch in crs:
            if await _is_there(client, watch.gvk, cr):
                continue
            await client.create(watch.gvk, _to_create(cr))
            created.append(_place(watch.gvk, cr["metadata"]))
    return created


async def read_with(client: Client, named: NamedCr, namespace: str) -> FoundCr:
    """Read one; raises `InputError` where it is not there."""
    gvk = named.watch.gvk
    resource = await client.resource_for(gvk)
    where = namespace if resource.namespaced else ""
    try:
        cr = await client.get(gvk, where, named.name)
    except NotFoundError:
        raise await _missing(client, gvk, where, named.name) from None
    return FoundCr(cr, named.watch, tuple(_notes(cr)))


async def _missing(client: Client, gvk: Gvk, namespace: str, name: str) -> InputError:
    rows = await client.list_all(gvk)
    there = [_place(gvk, row["metadata"]) for row in rows[:_MOST_NAMED]]
    names = ", ".join(f"`{place}`" for place in there)
    place = _place(gvk, {"namespace": namespace, "name": name})
    more = f" and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
    return InputError(
        f"`{place}` is not in the cluster",
        hint=f"there is {names}{more}; `-n` chooses the namespace"
        if there
        else f"there is no {gvk.kind} at all; `--cr FILE` runs the role of one in a file",
    )


def _notes(cr: Mapping[str, Any]) -> list[str]:
    annotations = cr["metadata"].get("annotations") or {}
    if str(annotations.get(PAUSED_ANNOTATION, "")).lower() == "true":
        return ["it is paused, so the operator would not run it"]
    return []


async def _is_there(client: Client, gvk: Gvk, cr: Mapping[str, Any]) -> bool:
    metadata = cr["metadata"]
    try:
        await client.get(gvk, metadata.get("namespace", ""), metadata["name"])
    except NotFoundError:
        return False
    return True


def _to_create(cr: dict[str, Any]) -> dict[str, Any]:
    """Without what only the API server writes; a file may be a copy of what it returned."""
    served = {"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"}
    metadata = {key: value for key, value in cr["metadata"].items() if key not in served}
    return {**cr, "metadata": metadata}


def _place(gvk: Gvk, metadata: Mapping[str, Any]) -> str:
    namespace = metadata.get("namespace")
    return f"{gvk.kind}/{metadata['name']}" + (f" -n {namespace}" if namespace else "")


def as_the_operator_sees(cr: dict[str, Any], watch: Watch, *, is_finalizer: bool) -> dict[str, Any]:
    """The CR as it would come from the API server at this point of its life."""
    metadata = dict(cr["metadata"])
    if is_finalizer:
        if watch.finalizer is None:
            raise InputError(
                f"{watch.gvk.kind} has no finalizer, so nothing would run when one is deleted",
                hint=f"add `finalizer:` to the entry on line {watch.line} of watches.yaml",
            )
        names = [name for name in metadata.get("finalizers", []) if name != watch.finalizer.name]
        metadata["finalizers"] = [*names, watch.finalizer.name]
    now = SystemClock().now().strftime("%Y-%m-%dT%H:%M:%SZ")
    identity = f"{watch.gvk}/{metadata.get('namespace', '')}/{metadata['name']}"
    # What every object from the API server has, and roles rely on.
    metadata.setdefault("uid", str(uuid.uuid5(uuid.NAMESPACE_URL, identity)))
    metadata.setdefault("generation", 1)
    metadata.setdefault("creationTimestamp", now)
    if is_finalizer:
        metadata.setdefault("deletionTimestamp", now)
    spec = cr.get("spec")
    found = {**cr, "metadata": metadata, "spec": spec if isinstance(spec, dict) else {}}
    if watch.manage_status and not cr.get("status"):  # the engine writes it before the first run
        found["status"] = Started(has_ready=watch.ready_condition)(found, now)
    return found


def is_ending(found: FoundCr) -> bool:
    """Whether the operator would run its finalizer now."""
    metadata, finalizer = found.cr["metadata"], found.watch.finalizer
    if not metadata.get("deletionTimestamp") or finalizer is None:
        return False
    return finalizer.name in metadata.get("finalizers", ())
