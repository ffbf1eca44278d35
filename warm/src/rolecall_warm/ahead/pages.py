"""The pages of the host's memory that every play writes to: a spare process copies them ahead.

A fork shares its parent's pages until one of both writes to them; then the kernel stops the writer and
copies. A play of one task writes to some 6,000 pages, nearly all for reference counts of code that it
merely calls, and the copies are a third of its time. Which pages, is much the same for all forks of a
host: the practice run and the first runs find out, and a spare process copies them all while no run
waits for it. Written down are addresses, never what is there.

Needs Linux 5.14; before that, pages are copied when they are written to, as always.

Rejected: the same in each fork under load. Copying all ahead took 14 ms of CPU, and the stops that it
saves took 5: it pays only while no run waits.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
from array import array
from collections.abc import Iterator
from pathlib import Path

Range = tuple[int, int]  # address, length in bytes

_PAGE = os.sysconf("SC_PAGE_SIZE")
_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE
# Bits of /proc/self/pagemap: the page is there, and no other process shares it.
_PRESENT, _EXCLUSIVE = 1 << 63, 1 << 56
# Two ranges this close are one: an unneeded copy costs less than another system call.
_GAP = _PAGE


def own_pages() -> list[Range]:
    """Memory that this process shared with its parent when it was forked, and now has to itself."""
    found: list[Range] = []
    with open("/proc/self/pagemap", "rb", buffering=0) as pagemap:  # noqa: PTH123
        for start, end in _private_mappings():
            pagemap.seek(start // _PAGE * 8)
            pages = array("Q", pagemap.read((end - start) // _PAGE * 8))
            for number, entry in enumerate(pages):
                if entry & _PRESENT and entry & _EXCLUSIVE:
                    _append(found, start + number * _PAGE)
    return found


def _append(found: list[Range], address: int) -> None:
    if found:
        start, length = found[-1]
        if address - (start + length) <= _GAP:
            found[-1] = (start, address + _PAGE - start)
            return
    found.append((address, _PAGE))


def _private_mappings() -> Iterator[Range]:
    with open("/proc/self/maps", encoding="utf-8") as maps:  # noqa: PTH123
        for line in maps:
            place, rights, *_ = line.split()
            if rights == "rw-p" and "[stack]" not in line:
                start, _, end = place.partition("-")
                yield int(start, 16), int(end, 16)


def copy_now(pages: list[Range]) -> None:
    """Copy these pages now; what cannot be copied is copied when it is written to."""
    madvise = ctypes.CDLL(None, use_errno=True).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for address, length in pages:
        if madvise(address, length, _POPULATE_WRITE) != 0 and ctypes.get_errno() == errno.EINVAL:
            return  # an older kernel; anything else is about this one range


def write_down_own(path: Path) -> None:
    """Which pages this process wrote to, for `written_down_in`."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(own_pages()))
    fresh.replace(path)


def written_down_in(path: Path) -> list[Range]:
    """What was written down; empty where nothing was, or nothing that makes sense."""
    try:
        found = [(int(address), int(length)) for address, length in json.loads(path.read_text())]
        path.unlink()
    except (OSError, ValueError, TypeError):
        return []
    return found
