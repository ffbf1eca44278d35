"""Secrets that were planted are looked for wherever an engine says or keeps anything.

Planted: values of Secrets that runs read (`k8s_info`, with and without `no_log`; by a lookup), made
(texts and base64), or are run for; the token of the engine; the password of each run. Runs succeed,
fail with the secrets in their message, and are killed with one in hand. The promise, as in
docs/concepts/runs.md: none of them is in the log, in status, Events or any other object but Secrets, in
artifacts, in traces, in what the commands (`plan` too), the page and the metrics show; none is in the
command line or in the environment of any process, at any time; and a file that holds one while a run is
in flight is for its owner alone, and goes with the run.

`marker`, no secret, takes the same ways and must be found: a search may have looked nowhere.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import yaml

from rolecall.gvk import Gvk
from rolecall.kube import Client
from tests.e2e.canary_commands import all_that_report
from tests.e2e.canary_search import Canaries, files_below
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, ROOT, EngineProcess
from tests.e2e.kinds import CONFIG_MAP, condition, cr, is_successful, kind
from tests.e2e.page.reading import Browser, local_address
from tests.e2e.test_run_reports import EVENT
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.collector import Collector
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually, eventually_async

CANARY, SILENT = kind("Canary"), kind("SilentCanary")
SECRET, LEASE = Gvk("", "v1", "Secret"), Gvk("coordination.k8s.io", "v1", "Lease")
FOLDER = Path(__file__).parent / "canaries"
ALL_RIGHTS = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
# What holds the CR as it is, for the play; see docs/concepts/runs.md.
UNMASKED = "env/extravars"
_PLACES = re.compile(r'(?:href|src|action|data-[a-z-]+)="(/[^"]*)"')


@dataclass
class World:
    """An engine, what was planted around it, and where its things are."""

    engine: EngineProcess
    api: Client
    namespace: str
    secret: Canaries
    marker: Canaries
    folder: Path
    way: str
    collector: Collector

    @property
    def temporary(self) -> Path:
        return self.engine._temporary

    def passwords_of_runs(self) -> set[str]:
        """Of all kubeconfigs of runs in flight."""
        found = set()
        for path in self.temporary.glob("rolecall-engine-*/*"):
            for user in yaml.safe_load(path.read_text())["users"]:
                found |= {user["user"]["password"]} if "password" in user["user"] else set()
        return found


@pytest.fixture
async def world(
    api: Client,
    namespace: str,
    tmp_path: Path,
    start_engine: StartEngine,
    *,
    service_account_kubeconfig: ServiceAccountKubeconfig,
    collector: Collector,
    request: pytest.FixtureRequest,
) -> World:
    for gvk in (CANARY, SILENT):
        await install(api, crd_for(gvk))
    secret, marker = Canaries(), Canaries()
    await _plant(api, namespace, secret)
    folder = tmp_path / "project"
    shutil.copytree(FOLDER, folder)
    values = {"of_texts": f"T-{secret.plant('of-texts')}", "says_unseen": True}
    values |= {"of_base64": f"B-{secret.plant('of-base64')}", "marker": marker.plant("marker")}
    variables = folder / "roles" / "canary" / "vars" / "main.yml"
    variables.parent.mkdir()
    variables.write_text(json.dumps(values))
    kubeconfig = service_account_kubeconfig(ALL_RIGHTS, ALL_RIGHTS)
    secret.plant("token", yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]["token"])
    engine = start_engine(
        folder,
        f"--runner={request.param}",
        "--page-bind-address=127.0.0.1:0",
        "--page-access=local",
        f"--proxy-record={tmp_path}/requests-{marker.words['marker']}.jsonl",
        kubeconfig=kubeconfig,
        environment={
            "CANARY_MARKER": marker.words["marker"],
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        },
    ).wait_ready()
    return World(engine, api, namespace, secret, marker, tmp_path, request.param, collector)


async def _plant(api: Client, namespace: str, secret: Canaries) -> None:
    lines = "\n".join(f"line {number} {secret.plant(f'line-{number}')}" for number in (1, 2, 3))
    reported = {
        "read": {
            "password": f"P-{secret.plant('read')}",
            "lines": lines,
            "quoted": f'"é\\{secret.plant("quoted")}"\t/',
        },
        "hushed": {"password": secret.plant("hushed")},
        "looked-up": {"password": f"L-{secret.plant('looked-up')}"},
        "unseen": {"password": f"U-{secret.plant('unseen')}"},
        "watched": {"password": f"W-{secret.plant('watched')}"},
    }
    for name, data in reported.items():
        labels = {"canary": name}
        metadata = {"name": name, "namespace": namespace, "labels": labels}
        await api.create(
            SECRET,
            {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data},
        )


@pytest.mark.nightly
@pytest.mark.parametrize("world", ["warm", "stock"], indirect=True)
async def test_no_planted_secret_is_found_anywhere(world: World) -> None:
    await _play(world)
    ways = {
        json.loads(file.read_text())["way"] for file in world.engine.artifacts.rglob("run.json")
    }
    assert world.way in ways
    await _hangs(world)
    _look_at_processes(world)
    _look_at_files_in_flight(world)
    await _look_around(world)

    ended = await eventually_async(
        lambda: world.api.get(SILENT, world.namespace, "hangs"),
        lambda found: condition(found, "Failure").get("reason") == "NoProgress",
        timeout_s=PATIENCE_S,
    )
    assert condition(ended, "Failure")["message"]
    await world.api.delete(SILENT, world.namespace, "hangs")
    world.engine.stop()
    assert world.secret.in_text(world.engine.log + world.engine.play_output) == set()
    assert _held_in_files(world) == {}
    _check_modes(world.engine.artifacts)


async def _play(world: World) -> None:
    """One run that succeeds, one that fails, with all that Ansible can say of it."""
    namespace = world.namespace
    await world.api.create(CANARY, cr(CANARY, namespace, "succeeds", does="succeeds"))
    fails = cr(CANARY, namespace, "fails", does="fails")
    await world.api.create(CANARY, fails)
    await eventually_async(
        lambda: world.api.get(CANARY, namespace, "succeeds"), is_successful, timeout_s=PATIENCE_S
    )
    failed = await eventually_async(
        lambda: world.api.get(CANARY, namespace, "fails"),
        lambda found: condition(found, "Failure").get("status") == "True",
        timeout_s=PATIENCE_S,
    )
    assert world.marker.in_text(json.dumps(condition(failed, "Failure")))


async def _hangs(world: World) -> None:
    """A run that stands still with a secret in hand."""
    asked = cr(SILENT, world.namespace, "hangs", does="hangs", folder=str(world.folder))
    await world.api.create(SILENT, asked)
    eventually((world.folder / "hangs").exists, timeout_s=PATIENCE_S)
    passwords = eventually(world.passwords_of_runs, bool)
    for number, password in enumerate(sorted(passwords)):
        world.secret.plant(f"password-{number}", password)


def _look_at_processes(world: World) -> None:
    for what in ("cmdline", "environ"):
        assert world.secret.in_processes(what) == {}, what
        assert world.marker.in_processes(what), what


def _look_at_files_in_flight(world: World) -> None:
    """What the play needs is on disk now, and no other user may read it."""
    held = world.secret.in_files(world.temporary, world.engine.artifacts)
    kubeconfigs = [path for path in held if path.parent.name.startswith("rolecall-engine-")]
    assert kubeconfigs, "the run's kubeconfig is somewhere"
    readable = {path: names for path, names in held.items() if _is_readable_by_others(path)}
    assert readable == {}
    _check_modes(world.engine.artifacts)


def _is_readable_by_others(path: Path) -> bool:
    if path.lstat().st_mode & 0o077 == 0:
        return False
    closed = (stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0 for folder in path.parents)
    return not any(closed)


def _check_modes(artifacts: Path) -> None:
    files = [path for path in files_below(artifacts) if not path.is_symlink()]
    assert files
    assert [path for path in files if path.lstat().st_mode & 0o077] == []


def _held_in_files(world: World) -> dict[Path, set[str]]:
    held = world.secret.in_files(world.temporary, world.engine.artifacts)
    return {path: names for path, names in held.items() if not str(path).endswith(UNMASKED)}


async def _look_around(world: World) -> None:
    """While one run hangs: all that is reported anywhere."""
    said = {
        "log": world.engine.log,
        "plays": world.engine.play_output,
        "metrics": world.engine.ask("metrics", "/metrics")[1],
        "probes": world.engine.ask("probes", "/readyz?verbose")[1],
        "traces": "\n".join(map(repr, world.collector.spans)),
        **await _objects(world),
        **_commands(world),
        **_pages(world),
    }
    assert world.secret.in_texts(said) == {}
    quoted = world.marker.in_texts(said)
    commands = ("rolecall logs", "rolecall runs", "rolecall plan")
    for place in ("log", "Event", "Canary", "ConfigMap", "traces", *commands):
        assert any(each.startswith(place) for each in quoted), place
    assert any(place.startswith("page") and "/runs/" in place for place in quoted)
    kept = world.marker.in_files(world.engine.artifacts)
    for name in ("stdout", "run.json", "job_events"):
        assert any(name in str(path) for path in kept), name


async def _objects(world: World) -> dict[str, str]:
    found = {}
    for gvk in (EVENT, CANARY, SILENT, CONFIG_MAP, LEASE):
        found[gvk.kind] = json.dumps(list(await world.api.list_all(gvk, "")))
    return found


def _commands(world: World) -> dict[str, str]:
    """What people are shown who ask the engine or its artifacts."""
    planned = [world.folder / "succeeds.yaml", world.folder / "fails.yaml"]
    for path in planned:  # of CRs that are nowhere yet, so that there is much to report
        path.write_text(json.dumps(cr(CANARY, world.namespace, "planned", does=path.stem)))
    asked = all_that_report(world.engine.artifacts, world.namespace, planned)
    return {f"rolecall {' '.join(words)}": _said_by(world, words) for words in asked}


def _said_by(world: World, words: list[str]) -> str:
    command = [sys.executable, "-m", "rolecall", *words]
    environ = {"PATH": os.environ["PATH"], "HOME": str(world.folder), "COLUMNS": "400"}
    environ["KUBECONFIG"] = str(world.folder / "engine.kubeconfig")
    environ["ANSIBLE_COLLECTIONS_PATH"] = str(ROOT / ".collections")
    environ["CANARY_MARKER"] = world.marker.words["marker"]
    project = world.folder / "project"
    done = subprocess.run(
        command, env=environ, cwd=project, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def _pages(world: World) -> dict[str, str]:
    """Every page that can be reached from the first one."""
    browser = Browser(world.engine.ports["page"])
    wanted, found = [local_address(world.engine)], {}
    while wanted:
        place = wanted.pop()
        # A reader that asks for page after page is asked to wait.
        code, text = eventually(partial(browser.asks, place), lambda answer: answer[0] != 429)
        assert code in (200, 404, 405), (place, code)
        found[f"page {place}"] = text
        known = {f"page {each}" for each in wanted} | found.keys()
        more = {html.unescape(each).partition("#")[0] for each in _PLACES.findall(text)}
        wanted += sorted(
            each
            for each in more
            if f"page {each}" not in known and not each.endswith(("/events", "/logout"))
        )
    return found
