"""Finds the object of this run among the variables of its play."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleError

_TO_UNDERSCORE = re.compile(r"[.-]")


def found_cr(variables: Mapping[str, Any]) -> dict[str, str]:
    """Its apiVersion, kind, namespace and name.

    The engine hands the whole object on as `_<group>_<kind>`. The author of a CR can make other
    variables by fields of its spec; where one of them looks like the object too, neither is taken.
    """
    meta = variables.get("ansible_operator_meta")
    if not isinstance(meta, Mapping) or not meta.get("name"):
        raise AnsibleError(
            "this is no run of an operator, since `ansible_operator_meta` is not set;"
            " `rolecall run-role` runs a role as an operator does"
        )
    found = [value for name, value in variables.items() if _is_cr(name, value, meta)]
    if len(found) != 1:
        what = "several variables look" if found else "no variable looks"
        raise AnsibleError(f"{what} like the object of this run, which is in `_<group>_<kind>`")
    cr = found[0]
    return {
        "apiVersion": str(cr["apiVersion"]),
        "kind": str(cr["kind"]),
        "name": str(meta["name"]),
        "namespace": str(meta.get("namespace") or ""),
    }


def named_cr(other: Any) -> dict[str, str]:
    """Those of another object, which was given whole; it must have been read, so that it is there."""
    metadata = other.get("metadata") if isinstance(other, Mapping) else None
    if not isinstance(metadata, Mapping) or not metadata.get("name"):
        raise AnsibleError("`cr` must be the whole object to report on, as a task has read it")
    return {
        "apiVersion": str(other.get("apiVersion") or ""),
        "kind": str(other.get("kind") or ""),
        "name": str(metadata["name"]),
        "namespace": str(metadata.get("namespace") or ""),
    }


def _is_cr(name: str, value: Any, meta: Mapping[str, Any]) -> bool:
    if not name.startswith("_") or not isinstance(value, Mapping):
        return False
    version, kind, metadata = (value.get(key) for key in ("apiVersion", "kind", "metadata"))
    if not (isinstance(version, str) and isinstance(kind, str) and isinstance(metadata, Mapping)):
        return False
    group = version.rpartition("/")[0]
    return (
        name == _TO_UNDERSCORE.sub("_", f"_{group}_{kind.lower()}")
        and metadata.get("name") == meta.get("name")
        and (metadata.get("namespace") or "") == (meta.get("namespace") or "")
    )
