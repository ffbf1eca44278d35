"""Sets a demo up and takes it away: a cluster of its own, the CRDs, the engine as a process.

Leaving `RunningDemo` ends the engine first and then removes the cluster with all of its files, whatever
happened in between; both also end with this process, however that ends.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from rolecall.errors import RolecallError
from rolecall.history import roots_of
from rolecall.local_engine import engines_of
from rolecall.settings import known_flags
from rolecall_dev import localcluster
from rolecall_dev.demo.project import DemoProject, Sample
from rolecall_dev.localcluster import Say
from rolecall_dev.sources import kubectl_source

NAME = "demo"
_MOST_DEMOS = 20
_END_S = 40.0  # longer than the engine's own grace for runs in flight

# Nothing of the demo may get in the way of an operator that runs on this machine already.
_FREE_PORTS = (
    "--proxy-port=0",
    "--role-metrics-port=0",
    "--metrics-bind-address=0",
    "--health-probe-bind-address=0",
    "--webhook-bind-address=127.0.0.1:0",
    "--page-bind-address=127.0.0.1:0",
    "--page-access=local",
)

# What the manager's Deployment sets too.
_AS_DEPLOYED = {"ANSIBLE_GATHERING": "explicit"}
# In the log's line on the end of a run, whichever format the environment asks for.
_WAY = re.compile(r"""\bway["']?[=:] ?["']?(warm|stock)\b""")


def _enter_cluster(stack: ExitStack, name: str, say: Say) -> localcluster.Cluster:
    """The cluster of this name; without one, of the first that no other demo has."""
    binaries = localcluster.find_binaries()
    free = (f"{NAME}-{number}" for number in range(2, _MOST_DEMOS + 1))
    for each in [name] if name else [NAME, *free]:
        wanted = localcluster.Wanted(name=each)
        try:
            return stack.enter_context(localcluster.temporary_cluster(wanted, binaries, say))
        except localcluster.InUseError as error:
            refused = error
    raise refused


class RunningDemo:
    """A running operator with a cluster of its own; without a name, one beside other demos."""

    def __init__(self, project: DemoProject, name: str, arguments: Sequence[str], say: Say) -> None:
        self._project = project
        self._arguments = arguments
        self._say = say
        self._engine: subprocess.Popen[bytes] | None = None
        self._ending = ExitStack()
        self._cluster = _enter_cluster(self._ending, name, say)
        self._ending.callback(self._end_engine)
        self.log = self._cluster.layout.folder / "engine.log"
        self._runs = self._cluster.layout.folder / "runs"

    @property
    def kubeconfig(self) -> Path:
        return self._cluster.kubeconfig

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.close()

    def install_crds(self) -> None:
        """Install the CRDs and wait until the API server serves them."""
        self._cluster.kubectl("apply", *kubectl_source(self._project.crds))
        self._cluster.kubectl("wait", "--for=condition=Established", "crd", "--all")

    def start_engine(self) -> None:
        command = [sys.executable, "-m", "rolecall", "run", f"--artifacts-dir={self._runs}"]
        with self.log.open("wb") as log:
            self._engine = subprocess.Popen(
                [*command, *known_flags(_FREE_PORTS), *self._arguments],
                cwd=self._project.folder,
                env={**os.environ, **_AS_DEPLOYED, "KUBECONFIG": str(self.kubeconfig)},
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                # Ctrl-C is for us: `_end_engine` ends the engine gracefully.
                start_new_session=True,
            )

    def create(self, samples: Sequence[Sample]) -> None:
        """Create samples, all in one request to kubectl."""
        files = [argument for file in _files(samples) for argument in ("-f", str(file))]
        self._cluster.kubectl("apply", *files)

    def require_engine(self) -> None:
        """Raise, with what it said last, where the engine has ended by itself."""
        if self._engine is not None and self._engine.poll() is not None:
            said = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
            raise RolecallError(
                "the operator ended; its last output:\n" + "\n".join(f"  {line}" for line in said)
            )

    def page(self) -> str:
        """The address at which the engine shows what it does; empty: it serves no page."""
        for engine, _ in engines_of(roots_of(self._runs)):
            return engine.page()
        return ""

    def ways(self) -> dict[str, int]:
        """How many runs went each way, according to the engine's log."""
        said = self.log.read_text(encoding="utf-8", errors="replace")
        return dict(sorted(Counter(_WAY.findall(said)).items()))

    def _end_engine(self) -> None:
        if self._engine is None:
            return
        self._engine.terminate()
        try:
            self._engine.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._engine.kill()
            self._engine.wait()


def _files(samples: Sequence[Sample]) -> list[Path]:
    return list(dict.fromkeys(sample.file for sample in samples))
