"""Cases that broke something once: `corpus/<entry point>/<symptom>.json`, each tried in `make test`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "corpus"


def kept_cases() -> list[Path]:
    return sorted(FOLDER.glob("*/*.json"))


def read_case(path: Path) -> tuple[str, Any]:
    """The entry point's name, and the case."""
    return path.parent.name, json.loads(path.read_text(encoding="utf-8"))


def write_case(path: Path, case: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(case, indent=1) + "\n", encoding="utf-8")
