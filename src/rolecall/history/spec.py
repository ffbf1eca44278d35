"""What a CR asked for when a run began, kept beside the run's artifacts: what changed since then?

Anyone who may read the CR may read this; the file is for us alone, as all artifacts are.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

SPEC_FILE = "spec.json"
# A spec above this is not kept: its differences would be too long to read.
_LARGEST_BYTES = 256 * 1024


def write_spec(folder: Path, spec: object) -> None:
    """Keep it; a full disk costs only this."""
    text = json.dumps(spec).encode()
    if len(text) > _LARGEST_BYTES:
        return
    descriptor = os.open(folder / SPEC_FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text)


def read_spec(folder: Path) -> Any:
    """As it was; None where it was not kept, or cannot be read."""
    try:
        with (folder / SPEC_FILE).open("rb") as file:
            return json.loads(file.read(_LARGEST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
