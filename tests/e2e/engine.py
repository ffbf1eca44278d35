"""The engine as its users start it: a process with flags, environment, a folder, and listeners."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from tests.fixtures.eventually import TIMEOUT_S, eventually

ROOT = Path(__file__).parents[2]
PROJECT = Path(__file__).parent / "project"
BEHAVIOURS = Path(__file__).parent / "behaviours"
PATIENCE_S = TIMEOUT_S
_COLLECTIONS = f"{ROOT / '.collections'}:{ROOT / 'src' / 'rolecall' / 'collections'}"
_SAMPLE = re.compile(r"^(?P<name>[^#\s{]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)$", re.MULTILINE)


class EngineProcess:
    """One `rolecall run`."""

    def __init__(
        self,
        folder: Path,
        scratch: Path,
        *,
        kubeconfig: Path,
        flags: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        python: str = sys.executable,
    ) -> None:
        scratch.mkdir(parents=True)
        self._ports_file = scratch / "ports.json"
        self._stdout_file, self._stderr_file = scratch / "stdout", scratch / "stderr"
        self.artifacts = scratch / "artifacts"
        self._files: list[IO[bytes]] = []
        # Short, for the sockets in it; Ansible's modules leave caches here.
        self._temporary = Path(tempfile.mkdtemp(prefix="e"))
        self.process = subprocess.Popen(
            [python, "-m", "rolecall", "run", *self._default_flags(), *flags],
            cwd=folder,
            env=_environment(kubeconfig, self._temporary) | dict(environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=self._open(self._stdout_file),
            stderr=self._open(self._stderr_file),
        )

    @property
    def log(self) -> str:
        """What the engine said."""
        return self._stderr_file.read_text()

    @property
    def play_output(self) -> str:
        """What its plays said."""
        return self._stdout_file.read_text()

    @property
    def ports(self) -> dict[str, int]:
        """Where its listeners are, once they are open."""
        eventually(
            lambda: self._ports_file.exists() or self.process.poll() is not None,
            timeout_s=PATIENCE_S,
        )
        assert self.process.poll() is None, f"the operator ended:\n{self.log}"
        ports: dict[str, int] = json.loads(self._ports_file.read_text())
        return ports

    def wait_ready(self) -> EngineProcess:
        """Wait until it is ready, as a kubelet would."""
        eventually(lambda: self.ask("probes", "/readyz")[0] == 200, timeout_s=PATIENCE_S)
        return self

    def ask(
        self,
        listener: str,
        path: str,
        *,
        body: bytes | None = None,
        token: str = "",
        scheme: str = "http",
    ) -> tuple[int, str]:
        """HTTP code and text of one of its listeners."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        url = f"{scheme}://127.0.0.1:{self.ports[listener]}{path}"
        request = urllib.request.Request(url, body, headers)
        blind = ssl.create_default_context()
        blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
        try:
            with urllib.request.urlopen(request, timeout=30, context=blind) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, refusal.read().decode()

    def metric(self, name: str, /, **labels: str) -> float:
        """The sum over all samples of a metric that have these labels."""
        text = self.ask("metrics", "/metrics")[1]
        return sum(
            float(sample["value"])
            for sample in _SAMPLE.finditer(text)
            if sample["name"] == name
            and all(f'{key}="{value}"' in (sample["labels"] or "") for key, value in labels.items())
        )

    def runs(self, kind: str = "", /, **labels: str) -> float:
        """How many runs ended; of a kind, or of all."""
        text = self.ask("metrics", "/metrics")[1]
        of_kind = f'Kind={kind}"' if kind else ""  # Machine is no MachineOperation
        return sum(
            float(sample["value"])
            for sample in _SAMPLE.finditer(text)
            if sample["name"] == "rolecall_runs_total"
            and of_kind in sample["labels"]
            and all(f'{key}="{value}"' in sample["labels"] for key, value in labels.items())
        )

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def wait(self, timeout_s: float = PATIENCE_S) -> int:
        """Wait for its end; the exit code."""
        return self.process.wait(timeout_s)

    def stop(self, timeout_s: float = PATIENCE_S) -> int:
        """Ask it to stop as Kubernetes does; the exit code."""
        if self.process.poll() is None:
            self.send(signal.SIGTERM)
        return self.wait(timeout_s)

    def clean_up(self) -> None:
        """End it, whatever it takes."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for file in self._files:
            file.close()
        shutil.rmtree(self._temporary)

    def _default_flags(self) -> list[str]:
        return [
            "--proxy-port=0",
            "--role-metrics-port=0",
            "--metrics-bind-address=127.0.0.1:0",
            "--health-probe-bind-address=127.0.0.1:0",
            "--webhook-bind-address=127.0.0.1:0",
            f"--artifacts-dir={self.artifacts}",
            f"--ports-file={self._ports_file}",
        ]

    def _open(self, path: Path) -> IO[bytes]:
        self._files.append(path.open("wb"))
        return self._files[-1]


def _environment(kubeconfig: Path, temporary: Path) -> dict[str, str]:
    """That of a pod, as far as it matters; nothing of the developer's shell."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {
        "HOME": str(temporary),
        "TMPDIR": str(temporary),
        "KUBECONFIG": str(kubeconfig),
        "ANSIBLE_GATHERING": "explicit",
        "ANSIBLE_COLLECTIONS_PATH": _COLLECTIONS,
    }


def has_engine(pids: list[int]) -> bool:
    """Whether one of these processes is an engine."""
    return any(b"\0rolecall\0run\0" in _command_of(pid) for pid in pids)


def _command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
