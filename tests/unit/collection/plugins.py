"""The parts of the collection, as Ansible imports them."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from rolecall.runner.inputs import BUNDLED_COLLECTIONS


def part(name: str) -> Any:
    """A file of plugin_utils or module_utils, by its name with the folder."""
    sys.path.append(str(BUNDLED_COLLECTIONS))
    try:
        return importlib.import_module(f"ansible_collections.rolecall.operator.plugins.{name}")
    finally:
        sys.path.remove(str(BUNDLED_COLLECTIONS))
