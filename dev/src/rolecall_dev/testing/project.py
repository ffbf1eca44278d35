"""The operator of a project as a process, on a local control plane: what the fixture `engine` is."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from rolecall.settings import known_flags
from rolecall_dev.localcluster import Cluster
from rolecall_dev.testing.samples import runs_in, sum_of
from rolecall_dev.testing.waiting import eventually

_START_S, _END_S = 120.0, 60.0
_READY = 200
# Where projects have their CRDs: those of `rolecall init` and the Operator SDK, and this repository.
_CRD_FOLDERS = ("config/crd", "crds")
_FLAGS = (
    "--proxy-port=0",
    "--role-metrics-port=0",
    "--metrics-bind-address=127.0.0.1:0",
    "--health-probe-bind-address=127.0.0.1:0",
    "--webhook-bind-address=127.0.0.1:0",
)


class ProjectEngine:
    """`rolecall run` in a project's folder; the context installs its CRDs, starts it, and stops it."""

    def __init__(self, project: Path, cluster: Cluster) -> None:
        self.project = project
        self._cluster = cluster
        self._folder = Path(tempfile.mkdtemp(prefix="rc"))  # short, for the sockets in it
        self.artifacts = self._folder / "artifacts"
        self._ports_file = self._folder / "ports.json"
        self._files = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ProjectEngine:
        try:
            self._install_crds()
            self._start()
            eventually(self._is_ready, timeout_s=_START_S, ignoring=(OSError,))
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def log(self) -> str:
        """The engine's log."""
        return self._text_of("stderr")

    @property
    def play_output(self) -> str:
        """The output of its plays."""
        return self._text_of("stdout")

    def metric(self, name: str, /, **labels: str) -> float:
        """The sum over all samples of a metric that have these labels."""
        return sum_of(self._ask("metrics", "/metrics")[1], name, labels)

    def runs(self, kind: str = "", /, **labels: str) -> float:
        """How many runs ended; of a kind, or of all."""
        return runs_in(self._ask("metrics", "/metrics")[1], kind, labels)

    def close(self) -> None:
        """Stop it as Kubernetes does, and remove its files."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(_END_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._files.close()
        shutil.rmtree(self._folder)

    def _install_crds(self) -> None:
        for folder in _CRD_FOLDERS:
            path = self.project / folder
            if (path / "kustomization.yaml").is_file():
                self._cluster.kubectl(
                    "apply", "--server-side", "--force-conflicts", "-k", str(path)
                )
            elif path.is_dir():
                self._cluster.kubectl(
                    "apply", "--server-side", "--force-conflicts", "-R", "-f", str(path)
                )
        self._cluster.kubectl("wait", "--for=condition=Established", "crd", "--all")

    def _start(self) -> None:
        files = (f"--artifacts-dir={self.artifacts}", f"--ports-file={self._ports_file}")
        environment = {
            # All namespaces, and plays that do not gather facts, as in a cluster.
            **{"WATCH_NAMESPACE": "", "ANSIBLE_GATHERING": "explicit"},
            **os.environ,
            "KUBECONFIG": str(self._cluster.kubeconfig),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rolecall", "run", *known_flags(_FLAGS), *files],
            cwd=self.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self._opened("stdout"),
            stderr=self._opened("stderr"),
        )

    def _is_ready(self) -> bool:
        if self._process is not None and (code := self._process.poll()) is not None:
            raise RuntimeError(f"the operator ended with exit code {code}:\n{self.log}")
        return self._ports_file.exists() and self._ask("probes", "/readyz")[0] == _READY

    def _ask(self, listener: str, path: str) -> tuple[int, str]:
        port = json.loads(self._ports_file.read_text())[listener]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode()

    def _opened(self, name: str) -> IO[bytes]:
        return self._files.enter_context((self._folder / name).open("wb"))

    def _text_of(self, name: str) -> str:
        return (self._folder / name).read_text(errors="replace")
