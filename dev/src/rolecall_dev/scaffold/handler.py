"""`rolecall create handler`: a file of kopf handlers for a watched kind, with a test that passes."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall.json_object import Json, as_map
from rolecall_dev.scaffold.changes import Changes
from rolecall_dev.scaffold.further_version import KnownCrd, find_crd
from rolecall_dev.scaffold.project import renew_schema
from rolecall_dev.scaffold.templates import rendered
from rolecall_dev.scaffold.yaml_maps import with_key

_WATCHES = "watches.yaml"
_SAMPLES = "config/samples"
_REQUIREMENTS = "requirements.txt"
_FIELD = "checkedGeneration"
_SCHEMA = {
    "description": "The generation that the handler looked at last.",
    "type": "integer",
    "format": "int64",
}
_PRESERVE = "x-kubernetes-preserve-unknown-fields"


@dataclass(frozen=True, slots=True)
class NewHandler:
    """What `create handler` was asked for; group and version may be empty."""

    kind: str
    group: str = ""  # whole, or without the project's domain
    version: str = ""


def add_handler(changes: Changes, wanted: NewHandler, *, force: bool) -> str:
    """Add the files and entries of a handler; nothing is written yet.

    What a person should know of it comes back.
    """
    text = changes.text_of(_WATCHES)
    if text is None:
        raise InputError(
            f"{_WATCHES} is not there, so there is no project in this folder",
            hint="`rolecall init` starts one",
        )
    entries = _entries(text)
    index, *others = _places(entries, wanted)
    gvk = Gvk(*(str(entries[index].get(key, "")) for key in ("group", "version", "kind")))
    path = f"handlers/{gvk.kind.lower()}.py"
    there = entries[index].get("handlers", path)
    if there != path or ("handlers" in entries[index] and not force):
        raise InputError(
            f"the watch of kind `{gvk.kind}` in {_WATCHES} has `handlers` already: {there}",
            hint="add functions to what it names, or make `handlers` a list and add a file by hand",
        )
    crd = find_crd(changes, gvk)
    if crd is None:
        raise _lacks("config/crd/bases", "CRD", gvk)
    files = rendered("handler", _values(changes, gvk, crd, is_alone=not others))
    for name, content in files.items():
        if name != _REQUIREMENTS or changes.text_of(name) is None:
            changes.add(name, content)
    changes.edit(_WATCHES, with_key(text, _WATCHES, (index, "handlers"), path))
    changes.edit(crd.file, _with_field(crd))
    renew_schema(changes)
    if "handlers/" in (changes.text_of("Dockerfile") or "handlers/"):
        return ""
    return (
        "The Dockerfile does not copy handlers: add `COPY handlers/ ${HOME}/handlers/`.\n"
        "If requirements.txt lists packages, copy the part `AS python` of a new project's Dockerfile."
    )


def _entries(text: str) -> list[Json]:
    try:
        entries = yaml.safe_load(text) or []
    except yaml.YAMLError as error:
        raise InputError(f"{_WATCHES} is not valid YAML: {error}") from error
    if not isinstance(entries, list):
        raise InputError(f"{_WATCHES} must be a list")
    return [as_map(entry) for entry in entries]


def _places(entries: list[Json], wanted: NewHandler) -> list[int]:
    """Where the kind is watched: the one that is meant, and those of the same name."""
    rows = [at for at, entry in enumerate(entries) if entry.get("kind") == wanted.kind]
    meant = [at for at in rows if _is_meant(entries[at], wanted)]
    if not meant:
        names = sorted(_name(entry) for entry in entries)
        raise InputError(
            f"{_WATCHES} does not watch kind `{wanted.kind}`"
            f"{' of this group and version' if rows else ''}",
            hint=f"it watches {', '.join(names) or 'nothing'}; `rolecall create api` adds a kind",
        )
    if len(meant) > 1:
        names = [_name(entries[at]) for at in meant]
        raise InputError(
            f"{_WATCHES} watches kind `{wanted.kind}` more than once: {', '.join(names)}",
            hint="name one with `--group` or `--version`",
        )
    return [*meant, *(at for at in rows if at not in meant)]


def _is_meant(entry: Json, wanted: NewHandler) -> bool:
    is_group = not wanted.group or f"{entry.get('group')}.".startswith(f"{wanted.group}.")
    return is_group and wanted.version in ("", entry.get("version"))


def _name(entry: Json) -> str:
    return f"{entry.get('kind')} ({entry.get('group')}/{entry.get('version')})"


def _values(changes: Changes, gvk: Gvk, crd: KnownCrd, *, is_alone: bool) -> dict[str, str]:
    plural = str(yaml.safe_load(crd.text)["spec"]["names"]["plural"])
    sample_file, sample_name = _sample(changes, gvk)
    return {
        "kind": gvk.kind,
        "kind_lower": gvk.kind.lower(),
        "plural": plural,
        "group_domain": gvk.group,
        # The test runs kopf alone, which does not serve a plural that two groups have.
        "resource": plural if is_alone else f"{plural}.{gvk.group}",
        "crd_file": crd.file,
        "sample_file": sample_file,
        "sample_name": sample_name,
        "field": _FIELD,
    }


def _sample(changes: Changes, gvk: Gvk) -> tuple[str, str]:
    """The file of a sample, and the sample's name."""
    for path in sorted((changes.root / _SAMPLES).glob("*.y*ml")):
        file = f"{_SAMPLES}/{path.name}"
        try:
            data = as_map(yaml.safe_load(changes.text_of(file) or ""))
        except yaml.YAMLError:
            continue  # several documents, or none
        if (data.get("apiVersion"), data.get("kind")) == (gvk.api_version, gvk.kind):
            return file, str(as_map(data.get("metadata")).get("name"))
    raise _lacks(_SAMPLES, "sample", gvk)


def _lacks(folder: str, what: str, gvk: Gvk) -> InputError:
    return InputError(
        f"{folder} has no {what} of kind `{gvk.kind}` ({gvk.api_version}), which the test of the"
        " handler needs",
        hint="put one there, in a file of its own",
    )


def _with_field(crd: KnownCrd) -> str:
    """The CRD with the handler's field in each version that would drop it."""
    text = crd.text
    for index, version in enumerate(yaml.safe_load(text)["spec"]["versions"]):
        schema = as_map(as_map(version.get("schema")).get("openAPIV3Schema"))
        status = as_map(as_map(schema.get("properties")).get("status"))
        path = ("spec", "versions", index, "schema", "openAPIV3Schema", "properties", "status")
        if not status and not schema.get(_PRESERVE):
            text = with_key(text, crd.file, path, {"type": "object", _PRESERVE: True})
        elif status and not status.get(_PRESERVE):
            text = with_key(text, crd.file, (*path, "properties", _FIELD), _SCHEMA)
    return text
