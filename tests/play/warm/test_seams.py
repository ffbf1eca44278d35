"""The contract with ansible-core: fails loudly when what the hooks were written against has moved."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

_DIGESTS = (
    "import json; from rolecall.runner.warm.hooks import seams; "
    "from rolecall.runner.warm.hooks.digests import READ_SOURCES; "
    "print(json.dumps(seams.digests_of(READ_SOURCES)))"
)


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    """Digests of the installed ansible-core; in a process of its own, which it may break."""
    output = subprocess.run(
        [sys.executable, "-c", _DIGESTS], check=True, capture_output=True, text=True
    ).stdout
    digests = json.loads(output)
    assert isinstance(digests, dict)
    return digests


def _sources() -> dict[str, frozenset[str]]:
    from rolecall.runner.warm.hooks.digests import READ_SOURCES  # noqa: PLC0415

    return READ_SOURCES


@pytest.mark.parametrize("label", sorted(_sources()))
def test_source_is_one_that_was_read(found: dict[str, str], label: str) -> None:
    known = _sources()[label]
    assert found[label] in known, (
        f"{label} changed; read it, adapt the hook, then add this digest to "
        f"{Path('src/rolecall/runner/warm/hooks/digests.py')}: {found[label]!r}"
    )
