"""A fork takes one thread along, and the locks of all others: so there may be no others."""

from __future__ import annotations

import subprocess
import sys
import threading
import timeit
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rolecall_warm.forking import ThreadsError, check_threads, fork


@contextmanager
def another_thread() -> Iterator[None]:
    """One that waits until the test releases it."""
    over, begun = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        over.wait()

    thread = threading.Thread(target=wait, name="watches a file")
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_another_thread_is_named_with_the_file_it_comes_from() -> None:
    with another_thread(), pytest.raises(ThreadsError) as said:
        fork()
    assert f"`watches a file` of `{__file__}`" in str(said.value)


def test_thread_of_a_c_library_is_seen_though_python_does_not_know_it() -> None:
    # `_thread` starts what `threading` does not know, as a library in C does.
    program = (
        "import _thread; lock = _thread.allocate_lock(); lock.acquire()\n"
        "_thread.start_new_thread(lock.acquire, ())\n"
        "from rolecall_warm.forking import fork\n"
        "fork()\n"
    )
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "of a C library" in ended.stderr.splitlines()[-1]


def test_one_thread_may_fork() -> None:
    program = "import os; from rolecall_warm.forking import fork\nfork() or os._exit(0)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_look_before_each_fork_costs_microseconds() -> None:
    look_s = min(timeit.repeat(check_threads, number=1000, repeat=5)) / 1000
    assert look_s < 100e-6  # some 3 on a machine that does nothing else
