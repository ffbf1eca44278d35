"""Compiled modules, by path and what the file looked like; a changed file is compiled again."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from rolecall_base.file_stamp import Stamp, stamp_of

_COLLECTION_MODULE = re.compile(
    r"/ansible_collections/(?P<name>[^/]+/[^/]+)/plugins/modules/(?P<path>.+)\.py$"
)
_CORE_MODULE = re.compile(r"/ansible/modules/(?P<path>\w+)\.py$")


@dataclass(frozen=True, slots=True)
class ModuleCode:
    """A new-style Python module, ready to be executed as `__main__`."""

    path: str
    full_name: str  # `kubernetes.core.k8s`, `ansible.builtin.ping`; empty in a role's library/
    import_name: str  # what the package would have called it
    code: CodeType
    shebang: str  # what the file asks for
    can_respawn: bool


class CompiledModules:
    """Keeps compiled modules; what it was filled with before a fork serves every run."""

    def __init__(self, is_new_style: Any, library: str) -> None:
        self._is_new_style = is_new_style  # ansible-core's own rule, on the file's bytes
        self._library = str(Path(os.path.realpath(library)).parent)
        self._kept: dict[str, tuple[Stamp | None, ModuleCode | None]] = {}

    def take(self, path: str) -> ModuleCode | None:
        """The module at a path as it is now; None where it is no new-style Python module."""
        stamp = stamp_of(path)
        kept = self._kept.get(path)
        if kept is None or kept[0] != stamp:
            kept = (stamp, self._compile(path))
            self._kept[path] = kept
        return kept[1]

    def _compile(self, path: str) -> ModuleCode | None:
        source = Path(path).read_bytes()
        if not self._is_new_style(source):
            return None
        try:
            code = compile(source, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return None  # Ansible reports it, with its own message
        full_name, import_name = self._names(path)
        return ModuleCode(
            path=path,
            full_name=full_name,
            import_name=import_name,
            code=code,
            shebang=_shebang(source),
            can_respawn=b"respawn" in source,
        )

    def _names(self, path: str) -> tuple[str, str]:
        if match := _COLLECTION_MODULE.search(path):
            collection = match["name"].replace("/", ".")
            module = match["path"].replace("/", ".")
            return (
                f"{collection}.{module}",
                f"ansible_collections.{collection}.plugins.modules.{module}",
            )
        if (match := _CORE_MODULE.search(path)) and os.path.realpath(path).startswith(
            self._library
        ):
            return f"ansible.builtin.{match['path']}", f"ansible.modules.{match['path']}"
        return "", f"ansible.legacy.{Path(path).stem}"


def _shebang(source: bytes) -> str:
    first = source.split(b"\n", 1)[0]
    return first[2:].decode(errors="replace").strip() if first.startswith(b"#!") else ""
