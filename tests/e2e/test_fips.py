"""Where FIPS refuses md5 and blake2: the engine, its runs and what it keeps do without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import EngineProcess
from tests.e2e.kinds import cr
from tests.e2e.skipping import EXPLICIT, MEMCACHED, SECRET, secret, shown, write_project
from tests.fixtures.eventually import eventually, eventually_async

pytestmark = pytest.mark.usefixtures("memcached")

# As OpenSSL in FIPS mode: md5 only where the caller says that it is not for security, blake2 never.
REFUSING = """
import hashlib, os, sys

def refusing(name, real, is_never):
    def refuse(*args, usedforsecurity=True, **options):
        if usedforsecurity or is_never:
            caller = sys._getframe(1)
            while caller.f_code.co_filename == __file__:
                caller = caller.f_back
            with open(os.environ["REFUSED"], "a") as file:
                file.write(f"{name} {caller.f_code.co_filename}\\n")
            raise ValueError(f"{name} disabled for FIPS")
        return real(*args, usedforsecurity=False, **options)
    return refuse

real_new = hashlib.new
REFUSED = {"md5": False, "md4": True, "blake2b": True, "blake2s": True}

def new(name, *args, **options):
    if name.lower() in REFUSED:
        made = lambda *more, **others: real_new(name, *more, **others)
        return refusing(name.lower(), made, REFUSED[name.lower()])(*args, **options)
    return real_new(name, *args, **options)

hashlib.new = new
for name, is_never in REFUSED.items():
    if hasattr(hashlib, name):
        setattr(hashlib, name, refusing(name, getattr(hashlib, name), is_never))
"""


@pytest.mark.nightly
async def test_engine_starts_runs_and_skips_where_md5_and_blake2_are_refused(
    api: Client, namespace: str, tmp_path: Path, start_engine: StartEngine
) -> None:
    (tmp_path / "fips").mkdir()
    (tmp_path / "fips" / "sitecustomize.py").write_text(REFUSING)
    refused = tmp_path / "refused"
    environment = {**EXPLICIT, "PYTHONPATH": str(tmp_path / "fips"), "REFUSED": str(refused)}
    project = write_project(tmp_path / "project", prune=True)
    await api.create(SECRET, secret(namespace, "one"))
    # There before the engine: it ended at its start where objects existed.
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    for is_new in (True, False):
        engine = start_engine(project, environment=environment).wait_ready()
        if not is_new:  # what the engine before it kept is understood
            _wait_for_a_skip(engine)
        await _lives(api, namespace, engine, size=7 + is_new)
        assert engine.stop() == 0, engine.log
        assert "disabled for FIPS" not in engine.log + engine.play_output
    ours = refused.read_text().splitlines() if refused.exists() else []
    assert not [line for line in ours if "/rolecall/" in line]


def _wait_for_a_skip(engine: EngineProcess) -> None:
    before = _skipped(engine)
    eventually(lambda: _skipped(engine) > before)


def _skipped(engine: EngineProcess) -> float:
    return engine.metric("rolecall_runs_skipped_total")


async def _lives(api: Client, namespace: str, engine: EngineProcess, *, size: int) -> None:
    """An edit is followed, and periods pass without a run."""
    await api.merge_patch(MEMCACHED, namespace, "x", {"spec": {"size": size}})

    async def seen() -> str:
        return str((await shown(api, namespace)).get("size"))

    await eventually_async(seen, lambda text: text == str(size))
    _wait_for_a_skip(engine)
