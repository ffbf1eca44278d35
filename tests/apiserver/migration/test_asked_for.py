"""How a migration is asked for: by a person with the command, or by a flag of the engine."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rolecall.clock import SystemClock
from rolecall.extensions.versions.migration.by_engine import EngineMigration
from rolecall.kube import Client, Credentials
from rolecall_dev.localcluster import Cluster
from tests.apiserver.migration.stored_objects import TwoVersions, two_versions
from tests.fixtures.eventually import eventually_async


@pytest.fixture
async def kind(cluster: Cluster, namespace: str) -> AsyncIterator[TwoVersions]:
    async with (
        Client(Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})) as client,
        two_versions(client, cluster) as kind,
    ):
        await kind.fill(namespace, 2)
        await kind.store_at("v2")
        yield kind


def rolecall(
    kind: TwoVersions, *words: str, folder: Path = Path("/")
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rolecall", "migrate-storage", *words],
        cwd=folder,
        env={**os.environ, "KUBECONFIG": str(kind.cluster.kubeconfig)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.nightly
async def test_a_person_tries_it_migrates_and_finds_nothing_left(
    kind: TwoVersions, tmp_path: Path
) -> None:
    word = f"book.{kind.group}"
    tried = rolecall(kind, word, "--dry-run")
    assert tried.stdout == (
        f"{kind.crd}: 2 objects, some of which may be stored at `v1`;"
        " all of them can be rewritten at `v2`\n"
    )
    assert set(kind.in_etcd().values()) == {"v1"}
    (tmp_path / "play.yaml").write_text("- hosts: localhost\n  tasks: []\n")
    entry = {"group": kind.group, "version": "v2", "kind": "Book"}
    entry["playbook"] = str(tmp_path / "play.yaml")
    (tmp_path / "watches.yaml").write_text(json.dumps([entry]))
    elsewhere = rolecall(kind, "--all", "--dry-run", f"--watches-file={tmp_path / 'watches.yaml'}")
    assert elsewhere.stdout == tried.stdout
    done = rolecall(kind, "--all", "--per-second=0", folder=tmp_path)
    assert done.stdout == (
        f"{kind.crd}: 2 objects, 2 rewritten at `v2`; nothing is stored at `v1` any more\n"
    )
    assert f"{kind.crd}: 2 done, 2 rewritten" in done.stderr.splitlines()
    assert set(kind.in_etcd().values()) == {"v2"}
    again = rolecall(kind, word, "--output=json")
    assert json.loads(again.stdout) == [
        {
            "crd": kind.crd,
            "storage": "v2",
            "objects": 0,
            "rewritten": 0,
            "dropped": [],
            "refused": [],
        }
    ]
    strange = rolecall(kind, "configmap")
    assert (strange.returncode, strange.stderr.splitlines()[1]) == (
        2,
        "error: kind `configmap` is of no CRD, so it has no storage version to choose",
    )


async def test_engine_migrates_once_its_kinds_were_listed(kind: TwoVersions) -> None:
    listed = asyncio.Event()
    engine = EngineMigration(kind.client, [kind.at("v2")], SystemClock(), is_listed=listed.is_set)
    running = asyncio.create_task(engine.run())
    assert await kind.stored_versions() == ["v1", "v2"]
    listed.set()

    async def is_cut() -> bool:
        return await kind.stored_versions() == ["v2"]

    await eventually_async(is_cut)
    running.cancel()
    assert set(kind.in_etcd().values()) == {"v2"}
