"""A sequence of molecule as a process: in a folder, with a limit of time."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BIN = Path(sys.executable).parent
_COLLECTIONS = f"{ROOT / '.collections'}:{ROOT / 'src' / 'rolecall' / 'collections'}"
# Many times what it takes on a machine with nothing else to do; on a very busy one it may be needed.
_LIMIT_S = 900.0
_LAST_LINES = 250


class MoleculeSequence:
    """One that was begun; `wait` returns how it ended."""

    def __init__(
        self,
        folder: Path,
        command: Sequence[str],
        *,
        cluster: str = "",
        kubeconfig: Path | None = None,
        kinds: str = "",
    ) -> None:
        """On a cluster that it brings itself and that has this name, or on one that is there."""
        self._kinds = kinds
        self._cluster = cluster
        self._kubeconfig = kubeconfig
        # Short, for the sockets in it; Ansible and its modules leave caches here.
        self._scratch = Path(tempfile.mkdtemp(prefix="m"))
        self._file = self._scratch / "said"
        with self._file.open("wb") as said:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that all of it can be ended
            )

    @property
    def said(self) -> str:
        """What it printed."""
        return self._file.read_text(errors="replace")

    def wait(self) -> int:
        """Its exit code. What it printed last is shown where a test fails."""
        code = self._process.wait(_LIMIT_S)
        print("\n".join(self.said.splitlines()[-_LAST_LINES:]))
        return code

    def clean_up(self) -> None:
        """End it, and remove what it left where it did not come to its end: operator, cluster."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait(60)
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((self._scratch / "molecule" / "engine.pid").read_text()), signal.SIGTERM)
        if self._cluster:
            self._remove_cluster()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _remove_cluster(self) -> None:
        down = (str(_BIN / "rolecall"), "cluster", "down", "--name", self._cluster)
        subprocess.run(down, env=self._environment(), capture_output=True, check=False)

    def _environment(self) -> dict[str, str]:
        """That of a person who did `make setup`; nothing that tests set for themselves."""
        kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        if self._kubeconfig:
            kept["KUBECONFIG"] = str(self._kubeconfig)
        return kept | {
            "PATH": f"{_BIN}:{os.environ['PATH']}",
            "TMPDIR": str(self._scratch),
            "MOLECULE_EPHEMERAL_DIRECTORY": str(self._scratch / "molecule"),
            "MOLECULE_CLUSTER": self._cluster,
            "KINDS": self._kinds,
            "ANSIBLE_COLLECTIONS_PATH": _COLLECTIONS,
        }
