"""Loads a role's filter plugin as Ansible does: from its file, as no package."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROLES = Path(__file__).parents[3] / "roles"


def role_filter(role: str, name: str) -> Callable[..., Any]:
    """The filter `name` of a role."""
    spec = importlib.util.spec_from_file_location(
        f"{role}_filters", ROLES / role / "filter_plugins" / f"{role}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    filters: dict[str, Callable[..., Any]] = module.FilterModule().filters()
    return filters[name]
