"""One entry of watches.yaml with some keys, and what they change in the watch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import yaml

from rolecall.watches import ExtensionKeys, Finalizer, Play, Watch, WatchDefaults, load_watches

_ENTRY = {"group": "demo.example.com", "version": "v1", "kind": "Demo", "role": "demo"}


@dataclass(frozen=True)
class Row:
    """A value other than the default, and each field of the watch that it changes."""

    value: Any
    changes: Mapping[str, Any]


def watch(
    project: Path, keys: Mapping[str, Any], extensions: Sequence[type[ExtensionKeys]] = ()
) -> Watch:
    """What an entry with these keys gives."""
    (project / "roles/other/tasks").mkdir(parents=True, exist_ok=True)
    (project / "roles/other/tasks/main.yml").write_text("[]\n")
    # On one line, so that lines differ nowhere.
    text = yaml.safe_dump([{**_ENTRY, **keys}], default_flow_style=True, width=10_000)
    (project / "watches.yaml").write_text(text)
    ((found,), _) = load_watches(Path("watches.yaml"), {}, WatchDefaults(), project, extensions)
    return found


def different(before: object, after: object) -> dict[str, Any]:
    """Each field that differs, with its new value; paths of plays begin in the project."""
    return {
        field.name: in_project(getattr(after, field.name))
        for field in fields(after)  # type: ignore[arg-type]
        if getattr(before, field.name) != getattr(after, field.name)
    }


def in_project(value: Any) -> Any:
    if isinstance(value, Play):
        return replace(value, path=Path(*value.path.parts[-2:]))
    if isinstance(value, Finalizer):
        return replace(value, play=in_project(value.play))
    return value
