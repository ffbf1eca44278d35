"""Every command works on the cluster of the kubeconfig, whatever else runs, or ran, on this machine.

Two clusters, with an engine of each on this machine; KUBECONFIG names the second one. The commands are
those of `every_command`, so a new one cannot be left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rolecall.cli import main
from rolecall.extensions.usage import CrOfRuns, Usage, UsageLedger
from tests.unit.cli.every_command import ACTING, FROM_A_KUBECONFIG
from tests.unit.cli.fake_engine import (
    FakeEngine,
    cr,
    engine_of_further_cluster,
    fake_engine,
)
from tests.unit.remote_engine.fake_cluster import FakeCluster, fake_cluster

NOW = datetime.now(UTC)
SHOP = CrOfRuns("example.com/v1", "Website", "default", "shop")
# Seconds, for the sake of what they import; before that they get their cluster as all others do.
SLOW = {"plan", "run-role"}
# `run` does not end by itself; `test_cluster_line` shows which cluster it takes.
COMMANDS = [
    pytest.param(words, id=" ".join(words), marks=[pytest.mark.nightly] * (words[0] in SLOW))
    for words in FROM_A_KUBECONFIG
    if words != ["run"]
]
ASKING_AN_ENGINE = [words for words in FROM_A_KUBECONFIG if words[0] in ("reconcile", "stop")]
LOOKING = [words for words in FROM_A_KUBECONFIG if words[0] in ("status", "runs", "logs", "usage")]


@dataclass
class Place:
    """A cluster, and the engine of this machine that works on it."""

    word: str  # in all that it says
    cluster: FakeCluster
    engine: FakeEngine

    @property
    def server(self) -> str:
        return self.cluster.server

    def fill(self) -> None:
        last = {"run": f"7{self.word}", "outcome": "failed", "reason": f"{self.word} reason"}
        self.engine.facts = {"server": self.server}
        self.engine.crs = [cr("shop", "failed", last=last)]
        key = f"Website default/{self.word}"
        stopped = {"key": key, "run": f"7{self.word}", "task": "", "place": ""}
        self.engine.answer = (202, {"keys": [key], "paused": [], **stopped})
        self.engine.shards = {"count": 4, "members": [], "unheld": [], "why_not": self.word}
        self.engine.page = f"http://127.0.0.1:1/{self.word}"
        self.keep(self.engine)
        metadata = {"name": "shop", "namespace": "ops", "annotations": {"by": self.word}}
        site = {"apiVersion": "example.com/v1", "kind": "Website", "metadata": metadata}
        self.cluster.objects["websites"] = [{**site, "spec": {"size": self.word}}]

    def keep(self, engine: FakeEngine) -> None:
        """What a run of this cluster leaves, in the folder of some engine."""
        for name in ("shop", self.word):
            engine.keep_run(
                name,
                f"7{self.word}",
                output=f"{self.word} output\n",
                outcome="failed",
                reason=f"{self.word} reason",
                began=NOW,
                server=self.server,
            )
        cost = {"first": 7411, "second": 7422}[self.word]
        UsageLedger(engine.root, self.server).add([(SHOP, Usage(cost, 0, 1.0, 1.0, 1, 1))], NOW)

    @property
    def was_asked(self) -> bool:
        return bool(self.engine.asked or self.cluster.requests)


class World:
    def __init__(self, first: Place, second: Place) -> None:
        self.first, self.second = first, second

    def end_engines_but_keep_files(self) -> None:
        """Sockets without a listener, as a killed engine leaves them."""
        for place in (self.first, self.second):
            for socket in place.engine.root.glob("control*.sock"):
                socket.unlink()


@pytest.fixture
def world(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[World]:
    folders = [tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("second")]
    with (
        fake_cluster(folders[0]) as first,
        fake_cluster(folders[1]) as second,
        fake_engine() as engine,
        engine_of_further_cluster(engine, "second") as further,
    ):
        places = [Place("first", first, engine), Place("second", second, further)]
        for place in places:
            place.fill()
        (tmp_path / "roles" / "website" / "tasks").mkdir(parents=True)
        (tmp_path / "roles" / "website" / "tasks" / "main.yml").write_text("[]\n")
        watch = "- {group: example.com, version: v1, kind: Website, role: website}\n"
        (tmp_path / "watches.yaml").write_text(watch)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("KUBECONFIG", str(second.kubeconfig))
        monkeypatch.setenv("ROLECALL_ARTIFACTS_DIR", str(engine.root))
        monkeypatch.setenv("TERM", "xterm")
        yield World(*places)


@pytest.mark.parametrize("words", COMMANDS)
def test_command_works_on_the_cluster_of_the_kubeconfig_alone(
    words: list[str], world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(words)
    said = capsys.readouterr()
    assert not world.first.was_asked, said
    assert "first" not in said.out
    assert world.first.server not in said.err
    assert world.second.was_asked or "second" in said.out + said.err or "7422" in said.out, said
    if words[0] in {each[0] for each in LOOKING} | ACTING - {"migrate-storage"}:
        assert code == (1 if "--record" in words else 0), said


@pytest.mark.parametrize("words", COMMANDS)
def test_engine_of_another_cluster_is_never_asked_though_it_is_the_only_one(
    words: list[str], world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.second.engine.facts = world.first.engine.facts
    code = main(words)
    said = capsys.readouterr()
    assert not world.first.engine.asked and not world.second.engine.asked, said
    assert not world.first.cluster.requests
    assert "first" not in said.out
    assert (code == 0) or words[0] not in ("status", "usage") or "--shards" in words


@pytest.mark.parametrize("words", LOOKING, ids=" ".join)
def test_what_runs_on_another_cluster_left_in_the_same_folder_is_not_shown(
    words: list[str], world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder of the first one's engine is the second one's since, which had its own before."""
    world.second.keep(world.first.engine)
    world.end_engines_but_keep_files()
    code = main(words)
    said = capsys.readouterr()
    assert "first" not in said.out + said.err and "7411" not in said.out, said
    if words == ["status", "--shards"]:
        assert code == 1, "it needs an engine"
    else:
        assert "second" in said.out + said.err or "14844" in said.out, said


@pytest.mark.parametrize("words", COMMANDS)
def test_kubeconfig_that_is_not_there_is_an_error_and_no_other_cluster(
    words: list[str],
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere/kubeconfig")
    assert main(words) != 0 or words[0] == "cluster"
    said = capsys.readouterr()
    assert not world.first.was_asked and not world.second.was_asked, said
    assert "`/nowhere/kubeconfig`" in said.err + said.out
    assert "first" not in said.out and "second" not in said.out


def test_without_a_named_cluster_the_list_shows_folders_and_clusters_and_naming_one_works(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", os.devnull)
    for words in (["status"], ["reconcile", "website/shop"], ["runs", "website/shop"], ["page"]):
        assert main(words) == 2
        said = capsys.readouterr().err
        for place in (world.first, world.second):
            assert f"`{place.engine.root}` on {place.server}" in said, words
        assert "--artifacts-dir" in said
    for place in (world.first, world.second):
        named = ["--artifacts-dir", str(place.engine.root)]
        assert main(["status", *named]) == 0
        assert place.word in capsys.readouterr().out
        assert main(["reconcile", "website/shop", *named]) == 0
        assert place.engine.asked
    assert main(["pause", "website/shop"]) == 3
    said = capsys.readouterr().err
    assert world.first.server in said and world.second.server in said


@pytest.mark.parametrize("words", ASKING_AN_ENGINE, ids=" ".join)
def test_folder_of_another_clusters_engine_may_be_looked_into_and_not_acted_on(
    words: list[str], world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ["--artifacts-dir", str(world.first.engine.root)]
    assert main([*words, *named]) == 2
    said = capsys.readouterr()
    assert world.first.server in said.err and world.second.server in said.err
    assert "set KUBECONFIG" in said.err
    assert not world.first.engine.asked
    assert main(["status", *named]) == 0
    said = capsys.readouterr()
    assert "first" in said.out and world.first.server in said.err
    assert main(["blame", "website", "shop", *named]) == 2, "the object is the second cluster's"


def test_named_folder_is_that_folder_alone(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    below = FakeEngine(tmp_path / "own" / ".clusters" / "other")
    world.second.keep(below)
    own = FakeEngine(tmp_path / "own")
    world.first.keep(own)
    named = ["--artifacts-dir", str(own.root)]
    for words in (["status"], ["runs", "website/shop"], ["logs", "website/shop"], ["usage"]):
        assert main([*words, *named]) == 0
        said = capsys.readouterr()
        assert "first" in said.out + said.err or "7411" in said.out, words
        assert "second" not in said.out and "7422" not in said.out, words


def test_shell_completes_the_names_of_the_cluster_of_the_kubeconfig(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.first.engine.crs, world.second.engine.crs = [cr("first")], [cr("second")]
    main(["__complete", "logs", "website/"])
    assert capsys.readouterr().out == "website/second\n"


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["plan", "website/shop"], marks=pytest.mark.nightly),
        ["blame", "website", "shop", "-n", "ops"],
    ],
    ids=" ".join,
)
def test_without_a_named_cluster_the_engine_of_this_machine_names_it(
    words: list[str],
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KUBECONFIG", os.devnull)
    world.end_engines_but_keep_files()
    assert main(words) == 3
    assert "no current context" in capsys.readouterr().err
    facts = {"server": world.first.server, "kubeconfig": str(world.first.cluster.kubeconfig)}
    with fake_engine() as engine:
        engine.facts = facts
        monkeypatch.setenv("ROLECALL_ARTIFACTS_DIR", str(engine.root))
        main(words)
    assert world.first.cluster.requests
    assert not world.second.was_asked
