"""Handlers of kopf that cannot start, do not end, or are killed: roles go on."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rolecall.kube import Client, NotFoundError
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, EngineProcess
from tests.e2e.kinds import CONFIG_MAP, cr, is_successful
from tests.e2e.test_handlers import BESIDE, KINDS, PROJECT, SITE, ticks
from tests.fixtures.crds import install
from tests.fixtures.eventually import eventually, eventually_async


@pytest.fixture(autouse=True)
async def kinds(api: Client) -> None:
    for definition in KINDS:
        await install(api, definition)


def child_of(engine: EngineProcess) -> int:
    """The process of handlers, once it is ready."""
    found = eventually(
        lambda: re.findall(r"handlers are ready +pid=(\d+)", engine.log), timeout_s=PATIENCE_S
    )
    return int(found[-1])


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


async def test_killed_process_of_handlers_is_started_again_and_ends_with_the_operator(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = start_engine(PROJECT).wait_ready()
    first = child_of(engine)
    os.kill(first, signal.SIGKILL)
    eventually(lambda: child_of(engine) != first, timeout_s=PATIENCE_S)
    assert "it was ended by SIGKILL" in engine.log
    await api.create(SITE, cr(SITE, namespace))
    await eventually_async(
        lambda: api.get(SITE, namespace, "x"), lambda cr: ticks(cr) > 0, timeout_s=PATIENCE_S
    )
    second = child_of(engine)

    engine.send(signal.SIGKILL)

    eventually(lambda: not is_alive(second), timeout_s=PATIENCE_S)


async def test_end_of_a_run_reaches_handlers_that_were_not_ready_for_it(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = start_engine(PROJECT).wait_ready()
    os.kill(child_of(engine), signal.SIGKILL)
    eventually(lambda: "it was ended by SIGKILL" in engine.log, timeout_s=PATIENCE_S)

    await api.create(SITE, cr(SITE, namespace))  # the next process starts a second later

    eventually(lambda: "saw the end of a run that succeeded" in engine.log, timeout_s=PATIENCE_S)


async def test_requests_of_handlers_are_recorded_and_granted_by_rbac(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    start_engine(PROJECT, "--proxy-record", str(record)).wait_ready()
    await api.create(SITE, cr(SITE, namespace))
    await eventually_async(
        lambda: api.get(CONFIG_MAP, namespace, "x-made"),
        ignoring=(NotFoundError,),
        timeout_s=PATIENCE_S,
    )

    def rbac(*flags: str) -> tuple[str, str]:
        command = [sys.executable, "-m", "rolecall", "rbac", "--output", "-", *flags]
        ran = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
        return ran.stderr, ran.stdout

    assert (
        "handlers/site.py: requests of handlers are not read from code; use --record" in rbac()[0]
    )
    notes, recorded = rbac("--record", str(record))
    assert "use --record" not in notes
    rules = yaml.safe_load(recorded)["rules"]
    verbs = {name: rule["verbs"] for rule in rules for name in rule["resources"]}
    assert "create" in verbs["configmaps"]
    assert "patch" in verbs["sites/status"]


async def test_daemon_that_never_ends_is_named_when_the_operator_stops(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = start_engine(PROJECT).wait_ready()
    child_of(engine)
    await api.create(BESIDE, cr(BESIDE, namespace))
    eventually(lambda: " tick " in engine.log, timeout_s=PATIENCE_S)

    assert engine.stop() == 0

    named = r"a handler did not end in time .*handler=stubborn place=handlers/beside.py:\d+"
    assert re.search(named, engine.log)


async def test_file_that_cannot_be_imported_is_reported_with_its_line_and_read_again_once_mended(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    shutil.copytree(PROJECT, folder)
    file = folder / "handlers" / "site.py"
    good = file.read_text()
    file.write_text(good + "\nlimit = int('ten')\n")
    engine = start_engine(folder).wait_ready()
    line = len(good.splitlines()) + 2
    eventually(lambda: "handlers cannot be imported" in engine.log, timeout_s=PATIENCE_S)
    assert f"handlers/site.py:{line}" in engine.log
    assert "ValueError" in engine.log
    assert "Traceback" not in engine.log
    await api.create(SITE, cr(SITE, namespace))
    await eventually_async(
        lambda: api.get(SITE, namespace, "x"), is_successful, timeout_s=PATIENCE_S
    )

    file.write_text(good)

    child_of(engine)
    await eventually_async(
        lambda: api.get(SITE, namespace, "x"), lambda cr: ticks(cr) > 0, timeout_s=PATIENCE_S
    )


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("import nowhere_to_be_found", "`nowhere_to_be_found` is not installed here"),
        ("@kopf.on.create('pods')\ndef made(**_): ...", "handler `made` is for `pods`"),
        ("@kopf.on.login()\ndef login(**_): ...", "`kopf.on.login` is not supported"),
        ("def tick(:", "is not Python"),
    ],
)
async def test_file_of_handlers_with_a_fault_costs_no_role(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path, text: str, reported: str
) -> None:
    folder = tmp_path / "project"
    shutil.copytree(PROJECT, folder)
    file = folder / "handlers" / "site.py"
    file.write_text(f"{file.read_text()}\n{text}\n")
    engine = start_engine(folder).wait_ready()

    eventually(lambda: reported in engine.log, timeout_s=PATIENCE_S)

    await api.create(SITE, cr(SITE, namespace))
    await eventually_async(
        lambda: api.get(SITE, namespace, "x"), is_successful, timeout_s=PATIENCE_S
    )
    assert "handlers are ready" not in engine.log
