"""YAML as Kubernetes has it, for what needs no places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def read_plain(path: Path) -> list[dict[str, Any]]:
    """All maps among the documents of a file."""
    try:
        found = list(yaml.safe_load_all(path.read_text(encoding="utf-8-sig")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return []
    return [document for document in found if isinstance(document, dict)]
