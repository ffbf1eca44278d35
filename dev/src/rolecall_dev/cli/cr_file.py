"""Reads the one CR out of a file that a person wrote, and says what is wrong with it otherwise."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall.watches import Watch


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
