"""Print the targets of a Makefile, grouped: `##@ Group` lines and `target: ... ## what it does`."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def main(makefile: Path) -> None:
    """Everything that has a description."""
    for line in makefile.read_text().splitlines():
        if group := re.match(r"##@ (.+)", line):
            print(f"\n{group[1]}")
        elif target := re.match(r"([a-z0-9-]+):.*?## (.+)", line):
            print(f"  make {target[1]:<18} {target[2]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
