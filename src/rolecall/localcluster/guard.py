"""What a guard runs when the owner of its cluster is gone: `python -m rolecall.localcluster.guard`."""

from __future__ import annotations

import sys
from pathlib import Path

from rolecall.localcluster.layout import Layout
from rolecall.localcluster.takedown import take_down

if __name__ == "__main__":
    take_down(Layout(Path(sys.argv[1])))
