"""A terminal of some width, and a command of rolecall in it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.e2e.engine import ROOT

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class AtTerminal:
    """A command of rolecall whose stdout and stderr are one terminal."""

    def __init__(self, words: Sequence[str], folder: Path, width: int, **environment: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        os.set_blocking(self._ours, False)
        self._said = b""
        self._home = tempfile.mkdtemp(prefix="d")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rolecall", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            env={
                "PATH": os.environ["PATH"],
                "HOME": self._home,
                "TMPDIR": self._home,
                "TERM": "xterm-256color",
                "ROLECALL_PROXY_PORT": "0",
                "ROLECALL_ROLE_METRICS_PORT": "0",
                "ROLECALL_METRICS_BIND_ADDRESS": "0",
                "ROLECALL_HEALTH_PROBE_BIND_ADDRESS": "0",
                "ROLECALL_ARTIFACTS_DIR": f"{self._home}/artifacts",
                "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
            }
            | environment,
        )
        os.close(theirs)

    @property
    def said(self) -> str:
        with suppress(BlockingIOError, OSError):
            while piece := os.read(self._ours, 65536):
                self._said += piece
        return self._said.decode(errors="replace").replace("\r\n", "\n")

    @property
    def lines(self) -> list[str]:
        return _COLOUR.sub("", self.said).splitlines()

    def line_with(self, text: str) -> str:
        return next(line for line in self.lines if text in line)

    def wait(self) -> int:
        """Until it ended by itself; the exit code. Its output fits into the terminal's buffer."""
        return self._process.wait(60)

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait(30)
        print(self.said)
        os.close(self._ours)
        shutil.rmtree(self._home)
