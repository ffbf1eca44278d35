"""`rolecall page` for an engine of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PROJECT, EngineProcess


def page_of(engine: EngineProcess) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rolecall", "page", "--no-open"]
    place = f"--artifacts-dir={engine.artifacts}"
    environ = {**os.environ, "KUBECONFIG": "/nowhere"}
    return subprocess.run(
        [*command, place], env=environ, capture_output=True, text=True, check=False
    )


async def test_address_that_is_printed_lets_one_in(
    api: Client, memcached: None, namespace: str, start_engine: StartEngine
) -> None:
    flags = ("--page-bind-address=127.0.0.1:0", "--page-access=local")
    engine = start_engine(PROJECT, *flags, namespaces=namespace)
    engine.wait_ready()
    said = page_of(engine)
    assert said.returncode == 0, said.stderr
    assert "engine of this machine" in said.stderr
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with browser.open(said.stdout.strip(), timeout=30) as answer:
        text = answer.read().decode()
    assert "Memcached" in text
    assert "this machine" in text


async def test_engine_without_a_page_is_reported_with_the_way_out(
    api: Client, memcached: None, namespace: str, start_engine: StartEngine
) -> None:
    engine = start_engine(PROJECT, namespaces=namespace)
    engine.wait_ready()
    said = page_of(engine)
    assert (said.returncode, said.stdout) == (2, "")
    assert "serves no page" in said.stderr
    assert "--page-access=local" in said.stderr
