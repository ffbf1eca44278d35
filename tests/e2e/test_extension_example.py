"""The extension of docs/guides/extensions.md, installed as a stranger's package would be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml

from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import ROOT, EngineProcess
from tests.e2e.kinds import cr, kind
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually

EXAMPLE = ROOT / "docs" / "guides" / "extensions"
FAILING = kind("Failing")
ENTRY = {"group": FAILING.group, "version": FAILING.version, "kind": FAILING.kind}
TASKS = [{"ansible.builtin.fail": {"msg": "the disk is full"}}]


class Hook(BaseHTTPRequestHandler):
    messages: list[str]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.messages.append(json.loads(body)["text"])
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Not to the terminal."""


@pytest.fixture
def hook() -> Iterator[tuple[str, list[str]]]:
    """A webhook's URL, and what was posted to it."""
    messages: list[str] = []
    server = HTTPServer(("127.0.0.1", 0), type("HookOfTest", (Hook,), {"messages": messages}))
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", messages
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder with the installed extension."""
    folder = tmp_path / "packages"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    more = ["--no-build-isolation", "--target", str(folder), str(EXAMPLE)]
    subprocess.run([*install, *more], check=True, capture_output=True)
    return folder


async def test_three_failures_of_a_cr_post_one_message(
    api: Client,
    namespace: str,
    cluster: Cluster,
    tmp_path: Path,
    packages: Path,
    hook: tuple[str, list[str]],
) -> None:
    url, messages = hook
    project = tmp_path / "project"
    (project / "roles" / "fails" / "tasks").mkdir(parents=True)
    (project / "roles" / "fails" / "tasks" / "main.yml").write_text(yaml.safe_dump(TASKS))
    (project / "watches.yaml").write_text(yaml.safe_dump([{**ENTRY, "role": "fails"}]))
    (project / "crd.yaml").write_text(yaml.safe_dump(crd_for(FAILING)))
    cluster.kubectl("apply", "--server-side", "-f", str(project / "crd.yaml"))
    cluster.kubectl("wait", "--for=condition=Established", "-f", str(project / "crd.yaml"))
    paths = os.pathsep.join(filter(None, [str(packages), os.environ.get("PYTHONPATH", "")]))
    engine = EngineProcess(
        project,
        tmp_path / "engine",
        kubeconfig=cluster.kubeconfig,
        environment={
            "PYTHONPATH": paths,
            "FAILURE_MESSAGES_URL": url,
            "WATCH_NAMESPACE": namespace,
        },
    )
    try:
        engine.wait_ready()
        await api.create(FAILING, cr(FAILING, namespace))
        eventually(lambda: messages)
        eventually(lambda: engine.metric("rolecall_runs_total", result="failed") >= 4)
        assert engine.metric("failure_messages_posted_total") == 1
    finally:
        engine.clean_up()
    (message,) = messages
    assert message.startswith(f"Failing {namespace}/x failed 3 times: ")
    assert "the disk is full" in message


def test_example_is_as_short_as_an_example_should_be() -> None:
    assert len((EXAMPLE / "failure_messages.py").read_text().splitlines()) <= 60
