"""Tables that Python makes anew do not pile up in the heap of an engine that lives for weeks."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

# As runs do it: names without end, of which the last ones are alive, between blocks that stay.
RUNS = """
import collections, sys
from rolecall.cli.run import _return_large_blocks

def private_mb():
    with open("/proc/self/smaps_rollup") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024

if sys.argv[1] == "returned":
    _return_large_blocks()
alive, blocks, most = collections.deque(maxlen=25000), collections.deque(maxlen=3000), []
for number in range(400_000):
    alive.append(sys.intern(f"run-{number}"))
    if number % 50 == 0:
        blocks.append(bytearray(200 + number * 37 % 9000))
    if number > 200_000 and number % 10_000 == 0:
        most.append(private_mb())
print(max(most))
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has the setting")
@pytest.mark.skipif(sys.version_info[:2] == (3, 12), reason="Python 3.12 keeps interned names")
def test_interned_names_of_many_runs_leave_no_holes_in_the_heap() -> None:
    kept, returned = (
        float(subprocess.check_output([sys.executable, "-c", RUNS, how], text=True))
        for how in ("kept", "returned")
    )
    assert returned < kept - 1.0
