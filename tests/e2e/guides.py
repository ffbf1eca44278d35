"""The commands of the guides in `docs/guides`, and a terminal to type them in."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.fixtures.eventually import eventually

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120
# Where an engine writes that it listens, in the folder in which it runs.
PORTS = "ports.json"
_PROGRAMS = (
    *("rolecall", "make", "kubectl", "docker", "source", "export", "operator-sdk", "opm"),
    *("ansible-playbook", "ansible-galaxy", "ansible-operator", "pip", "mkdir", "cd"),
)
_FENCE = re.compile(r"```(\w*)")
_INLINE = re.compile(r"`([^`]+)`")


def commands(guide: str) -> list[str]:
    """All of them in the guide's order, each once: in blocks, in tables, and in sentences."""
    found: dict[str, None] = {}
    language = None
    for line in (ROOT / "docs" / "guides" / f"{guide}.md").read_text().splitlines():
        if fence := _FENCE.match(line):
            language = fence[1] if language is None else None
        elif language is None:
            found.update(dict.fromkeys(_in_text(line)))
        else:
            found.update(dict.fromkeys(_in_block(line, language)))
    return list(found)


def _in_block(line: str, language: str) -> list[str]:
    typed = re.match(r"\$ (.+)" if language == "console" else r"(.+)", line)
    if not typed or language not in ("console", "sh"):
        return []
    return [re.sub(r"\s+#.*", "", typed[1])]


def _in_text(line: str) -> list[str]:
    spans = [line.strip()] if line.startswith("    ") else _INLINE.findall(line)
    return [span for span in spans if span.startswith(tuple(f"{it} " for it in _PROGRAMS))]


@dataclass
class Terminal:
    """One command after the other, with the folder and the kubeconfig that the last one left."""

    folder: Path
    scratch: Path
    kubectl: Path
    kubeconfig: str = ""

    def __post_init__(self) -> None:
        self._programs = self.scratch / "bin"
        self._temporary = self.scratch / "tmp"
        self._programs.mkdir(exist_ok=True)
        self._temporary.mkdir(exist_ok=True)
        if not (self._programs / "kubectl").exists():
            (self._programs / "kubectl").symlink_to(self.kubectl)

    @property
    def environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ANSIBLE_", "WATCH_", "KUBE", "MAKE", "ROLECALL_"))
            or name == "ROLECALL_CACHE"
        }
        own = {
            "PATH": f"{Path(sys.executable).parent}:{self._programs}:{inherited['PATH']}",
            "TMPDIR": str(self._temporary),
            "ROLECALL_STATE": str(self.scratch / "state"),
            "ROLECALL_ARTIFACTS_DIR": str(self.scratch / "runs"),
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
            # Others on this machine may have the usual ports.
            "ROLECALL_METRICS_BIND_ADDRESS": "0",
            "ROLECALL_HEALTH_PROBE_BIND_ADDRESS": "0",
            "ROLECALL_PROXY_PORT": "0",
            "ROLECALL_ROLE_METRICS_PORT": "0",
            "ROLECALL_PORTS_FILE": PORTS,
        }
        given = {"KUBECONFIG": self.kubeconfig} if self.kubeconfig else {}
        return {**inherited, **own, **given}

    def run(self, command: str, *, codes: tuple[int, ...] = (0,)) -> str:
        after = self.scratch / "after"
        script = f'{command}\ncode=$?\n(pwd; echo "${{KUBECONFIG:-}}") > {after}\nexit $code'
        began = time.monotonic()
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        said = f"$ {command}  # {time.monotonic() - began:.1f} s\n{done.stdout}\n{done.stderr}"
        assert done.returncode in codes, said
        folder, self.kubeconfig = after.read_text().splitlines()
        self.folder = Path(folder)
        return said

    def start(self, command: str, file: str = "", text: str = "") -> subprocess.Popen[bytes]:
        """In the foreground of a terminal of its own, until it wrote the file, or the text."""
        said = self.scratch / "said"
        shown = self.folder / file if file else said
        shown.unlink(missing_ok=True)
        with said.open("wb") as log:
            process = subprocess.Popen(
                ["bash", "-c", command],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            eventually(
                lambda: process.poll() is not None or _has(shown, text),
                timeout_s=PATIENCE_S,
            )
            assert process.poll() is None, f"$ {command}\n{said.read_text()}"
        except BaseException:
            stop(process)
            raise
        return process


def _has(file: Path, text: str) -> bool:
    content = file.read_text() if file.is_file() else ""
    return bool(content) and text in content


def stop(process: subprocess.Popen[bytes]) -> None:
    """As Ctrl-C does."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    process.wait(60)
