"""Handlers of kopf beside roles: what they write, when they act, how they fail."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, ROOT
from tests.e2e.kinds import CONFIG_MAP, cr, is_gone, is_successful, kind
from tests.e2e.shared import SharedEngine
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually, eventually_async

PROJECT = Path(__file__).parent / "handlers"
SITE, ALONE, BESIDE = kind("Site"), kind("Alone"), kind("Beside")
WEBSITE = Gvk("web.example.com", "v1", "Website")
OTHER = Gvk("other.rolecall.dev", "v1", "Site")  # has the plural of SITE
KINDS = [crd_for(gvk) for gvk in (SITE, ALONE, BESIDE, OTHER)]
SHARED_ENGINE = (PROJECT,)
KNOWN = "handlers.rolecall.dev/last-handled-configuration"


def ticks(cr: Json) -> int:
    found: int = cr.get("status", {}).get("ticks", 0)
    return found


async def test_timer_and_role_write_one_status_and_start_no_run(
    api: Client, namespace: str, shared_engine: SharedEngine
) -> None:
    await api.create(SITE, cr(SITE, namespace))

    there = await eventually_async(
        lambda: api.get(SITE, namespace, "x"),
        lambda cr: ticks(cr) >= 5 and is_successful(cr),
        timeout_s=PATIENCE_S,
    )

    assert [*there["metadata"]["finalizers"]] == ["handlers.rolecall.dev/finalizer"]
    notes = [name for name in there["metadata"]["annotations"] if "kopf" in name or "/" in name]
    assert all(name.startswith("handlers.rolecall.dev/") for name in notes)
    assert shared_engine.runs("Site") == 1
    await api.delete(SITE, namespace, "x")
    await eventually_async(lambda: is_gone(api, SITE, namespace, "x"), timeout_s=PATIENCE_S)


async def test_object_that_a_handler_made_is_owned_and_its_loss_brings_a_run(
    api: Client, namespace: str, shared_engine: SharedEngine
) -> None:
    there = await api.create(SITE, cr(SITE, namespace))
    made = await eventually_async(
        lambda: api.get(CONFIG_MAP, namespace, "x-made"),
        ignoring=(NotFoundError,),
        timeout_s=PATIENCE_S,
    )
    assert [row["uid"] for row in made["metadata"]["ownerReferences"]] == [there["metadata"]["uid"]]
    eventually(lambda: shared_engine.runs("Site") == 1, timeout_s=PATIENCE_S)

    await api.delete(CONFIG_MAP, namespace, "x-made")

    eventually(lambda: shared_engine.runs("Site") == 2, timeout_s=PATIENCE_S)
    assert "drift of ConfigMap x-made" in shared_engine.log


async def test_handler_waits_while_a_run_of_its_object_is_in_flight(
    api: Client, namespace: str, shared_engine: SharedEngine
) -> None:
    await api.create(SITE, cr(SITE, namespace, seconds=3))
    await api.create(BESIDE, cr(BESIDE, namespace, seconds=3))

    assert not ticks_during_the_run(shared_engine, "Site", namespace)
    assert ticks_during_the_run(shared_engine, "Beside", namespace)


def ticks_during_the_run(engine: SharedEngine, kind: str, namespace: str) -> list[str]:
    where = rf"kind={kind} namespace={namespace} "
    run = re.compile(rf" run started +{where}(.*?) run finished +{where}", re.DOTALL)
    during = eventually(lambda: run.search(engine.log), timeout_s=PATIENCE_S)
    assert during
    return re.findall(rf" tick +{where}", during[1])


async def test_handler_asks_for_a_run_and_is_called_at_its_end(
    api: Client, namespace: str, shared_engine: SharedEngine
) -> None:
    await api.create(SITE, cr(SITE, namespace))
    eventually(
        lambda: "saw the end of a run that succeeded" in shared_engine.log, timeout_s=PATIENCE_S
    )
    # An edit before kopf is done with the creation is a part of it, and no change of a field.
    await eventually_async(
        lambda: api.get(SITE, namespace, "x"),
        lambda cr: KNOWN in cr["metadata"].get("annotations", {}),
        timeout_s=PATIENCE_S,
    )

    await api.merge_patch(SITE, namespace, "x", {"metadata": {"labels": {"ask": "a-reason"}}})

    eventually(lambda: 'cause="asked with a-reason"' in shared_engine.log, timeout_s=PATIENCE_S)


async def test_conditions_are_refused_to_a_client_in_a_handler(
    api: Client, namespace: str, shared_engine: SharedEngine
) -> None:
    await api.create(SITE, cr(SITE, namespace, judge=True))

    there = await eventually_async(
        lambda: api.get(SITE, namespace, "x"),
        lambda cr: cr.get("status", {}).get("judged") and is_successful(cr),
        timeout_s=PATIENCE_S,
    )

    assert there["status"]["judged"] == "422"
    assert "Mine" not in str(there["status"]["conditions"])
    assert shared_engine.runs("Site") == 1


async def test_failing_handler_is_logged_once_and_shown_in_status(
    api: Client, namespace: str, shared_engine: SharedEngine
) -> None:
    await api.create(SITE, cr(SITE, namespace, fails=True))
    log = eventually(
        lambda: shared_engine.log, lambda log: "handler failed" in log, timeout_s=PATIENCE_S
    )

    assert re.search(r"handlers/site.py:\d+: KeyError: 'url'", log)
    assert "Traceback" not in log
    eventually(lambda: shared_engine.runs("Site") == 1, timeout_s=PATIENCE_S)
    place = ("-n", namespace, "--artifacts-dir", shared_engine.artifacts)
    shown = await run_cli("status", "site/x", *place)
    assert re.search(r"handler +tick \(handlers/site.py:\d+\) failed .*KeyError: 'url'", shown), (
        shown
    )


async def test_kind_without_a_role_has_its_handlers_alone(
    api: Client, namespace: str, shared_engine: SharedEngine
) -> None:
    await api.create(ALONE, cr(ALONE, namespace, size=1))
    there = await eventually_async(
        lambda: api.get(ALONE, namespace, "x"),
        lambda cr: cr.get("status", {}).get("resized"),
        timeout_s=PATIENCE_S,
    )
    assert there["status"]["resized"] == "None to 1"

    await api.merge_patch(ALONE, namespace, "x", {"spec": {"size": 2}})
    await eventually_async(
        lambda: api.get(ALONE, namespace, "x"),
        lambda cr: cr["status"]["resized"] == "1 to 2",
        timeout_s=PATIENCE_S,
    )

    # The daemon never ends by itself; it is cancelled.
    await api.delete(ALONE, namespace, "x")
    await eventually_async(lambda: is_gone(api, ALONE, namespace, "x"), timeout_s=PATIENCE_S)
    assert shared_engine.runs("Alone") == 0
    assert " run started  kind=Alone" not in shared_engine.log


async def test_lines_of_a_handler_and_of_a_daemon_that_runs_are_followed(
    api: Client, namespace: str, shared_engine: SharedEngine
) -> None:
    await api.create(BESIDE, cr(BESIDE, namespace))
    place = ("beside/x", "-n", namespace, "--artifacts-dir", shared_engine.artifacts)
    shown = await eventually_async(
        lambda: run_cli("status", *place), lambda text: "tick" in text, timeout_s=PATIENCE_S
    )
    assert re.search(r"handler +stubborn \(handlers/beside.py:\d+\) running for ", shown), shown

    command = (sys.executable, "-m", "rolecall", "logs", "--handlers", "-f", *map(str, place))
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    lines = [(await process.stdout.readline()).decode() for _ in range(6)]
    process.terminate()
    await process.wait()

    assert all(re.fullmatch(r"[\dT:-]+Z tick: tick\n", line) for line in lines), lines
    assert "tick: tick" in await run_cli("logs", "--handlers", *place)


async def run_cli(*arguments: object) -> str:
    command = (sys.executable, "-m", "rolecall", *map(str, arguments))
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    return (await process.communicate())[0].decode()


async def test_example_of_the_guide_sees_whether_the_site_is_there(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    code, watches = (blocks("python")[0], blocks("yaml")[0])
    project = tmp_path / "project"
    (project / "handlers").mkdir(parents=True)
    (project / "handlers" / "website.py").write_text(code)
    (project / "watches.yaml").write_text(watches)
    tasks = project / "roles" / "website" / "tasks"
    tasks.mkdir(parents=True)
    (tasks / "main.yml").write_text("---\n")
    await install(api, crd_for(WEBSITE))
    folder = str(tmp_path)
    site = await asyncio.create_subprocess_exec(
        *(sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "0", "-d", folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert site.stdout is not None
    port = re.findall(rb"port (\d+)", await site.stdout.readline())[0].decode()
    start_engine(project).wait_ready()
    await api.create(WEBSITE, cr(WEBSITE, namespace, url=f"http://127.0.0.1:{port}/"))

    async def is_reachable(expected: bool) -> None:
        await eventually_async(
            lambda: api.get(WEBSITE, namespace, "x"),
            lambda cr: cr.get("status", {}).get("reachable") is expected and is_successful(cr),
            timeout_s=PATIENCE_S,
        )

    await is_reachable(True)
    site.kill()
    await site.communicate()
    await is_reachable(False)


def blocks(language: str) -> list[str]:
    """The code of the guide."""
    guide = (ROOT / "docs" / "guides" / "handlers.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", guide, re.DOTALL)
