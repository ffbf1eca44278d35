"""Add the digests of the ansible-core at hand to those that were read: after reading what changed.

    .venv/bin/python tools/read_digests.py          (shows what would be added)
    .venv/bin/python tools/read_digests.py --add

The hooks of the warm runner rely on what some functions of ansible-core say. Read each that is listed,
adapt the hook where it must be, run `tests/play/fidelity` and `tests/apiserver/warm`; then add.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rolecall_warm.hooks.digests import digests_of, known_digests, version_of_core
from rolecall_warm.hooks.sources import family_of, sources_of

ROOT = Path(__file__).resolve().parents[1]
KNOWN = ROOT / "src" / "rolecall" / "runner" / "warm" / "hooks" / "digests.json"


def main(arguments: list[str]) -> int:
    """The number of digests that were not reviewed yet; none after `--add`."""
    version = version_of_core()
    known = known_digests()
    unread = 0
    for label, digest in digests_of(sources_of(family_of(version))).items():
        readers = known.setdefault(label, {})
        if digest not in readers:
            unread += 1
            print(f"{label}: {digest or 'gone'}")
        if digest:
            releases = readers.get(digest, "").split()
            release = ".".join(version.split(".")[:2])
            readers[digest] = " ".join(sorted({*releases, release}))
    if "--add" in arguments:
        KNOWN.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
        return 0
    return unread


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
