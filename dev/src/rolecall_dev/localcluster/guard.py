"""`python -m rolecall_dev.localcluster.guard`: what a guard runs once its cluster has no owner."""

from __future__ import annotations

import sys
from pathlib import Path

from rolecall_dev.localcluster.layout import Layout
from rolecall_dev.localcluster.takedown import take_down

if __name__ == "__main__":
    take_down(Layout(Path(sys.argv[1])))
