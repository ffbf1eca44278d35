"""Loads a role's filter plugin as Ansible does: from its file, as no package."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROLES = Path(__file__).parents[3] / "roles"


def role_filter(role: str, name: str, file: str = "") -> Callable[..., Any]:
    """The filter `name` of a role, from `file` (without `.py`) or the one of its name."""
    spec = importlib.util.spec_from_file_location(
        f"{file or role}_filters", ROLES / role / "filter_plugins" / f"{file or role}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    filters: dict[str, Callable[..., Any]] = module.FilterModule().filters()
    return filters[name]
