"""Which nightly tests CI runs for a commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tools.affected import commits
from tools.affected.choice import UNKNOWN_S, choose
from tools.affected.facts import Facts, facts_of
from tools.affected.map import Map
from tools.affected.rooms import Rooms, room_of
from tools.affected.tests import facts_with_helpers, helpers_of, nightly_files
from tools.placement import ROOT, Seconds

ROOMS = Rooms()
TEXT = '''
"""A docstring that says `rolecall usage`."""
from rolecall.extensions.skip import Skips
import tests.e2e.engine

@pytest.mark.nightly
def test_it(engine):
    rolecall("blame", "x")
    run([sys.executable, "-m", "rolecall", "plan", "--all"])
    main(["bundle", "--validate"])
    write(skipUnchanged=True)
    write("- kind: A\\n  watchReads: true\\n")
    start(f"--shards={COUNT}")
    read(ROOT / "docs" / "guides" / name)
'''


@pytest.mark.parametrize(
    ("path", "room"),
    [
        ("src/rolecall/extensions/skip/skips.py", "src/rolecall/extensions/skip"),
        ("src/rolecall/app.py", "src/rolecall/app.py"),
        ("dev/src/rolecall_dev/checks/porting/a.py", "dev/src/rolecall_dev/checks"),
        ("warm/src/rolecall_warm/hooks/uses.py", "warm/src/rolecall_warm/hooks"),
        ("roles/etcdcluster/tasks/main.yml", "roles/etcdcluster"),
        ("tests/e2e/skipping.py", "tests/e2e/skipping.py"),
        ("docs/guides/page.md", "docs/guides"),
        ("config/rbac/role.yaml", "config"),
        ("Dockerfile", "Dockerfile"),
    ],
)
def test_path_belongs_to_a_room(path: str, room: str) -> None:
    assert room_of(path) == room


def test_facts_are_what_a_file_says_outside_of_its_docstrings(tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(TEXT)
    facts = facts_of(file)
    assert facts.imports == {"rolecall.extensions.skip.Skips", "tests.e2e.engine"}
    assert {"blame", "plan", "bundle"} <= facts.commands
    assert "usage" not in facts.commands
    assert {"skipUnchanged", "watchReads"} <= facts.keys
    assert "shards" in facts.flags
    assert "docs/guides" in facts.paths
    assert "engine" in facts.arguments
    assert "nightly" in facts.attributes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("facts", "room"),
    [
        (Facts(imports={"rolecall.status.writer.StatusWriter"}), "src/rolecall/status"),
        (Facts(keys={"skipUnchanged"}), "src/rolecall/extensions/skip"),
        (Facts(keys={"prune"}), "src/rolecall/extensions/prune"),
        (Facts(flags={"page-bind-address"}), "src/rolecall/extensions/console"),
        (Facts(flags={"shards"}), "src/rolecall/extensions/shards"),
        (Facts(commands={"blame"}), "src/rolecall/extensions/console"),
        (Facts(commands={"test"}), "dev/src/rolecall_dev/proving"),
        (Facts(texts={"EtcdCluster"}), "roles/etcdcluster_admission"),
        (Facts(texts={"Mapping"}), "roles/mapping"),
        (Facts(texts={"operator_sdk.util.k8s_status"}), "src/rolecall/collections"),
    ],
)
def test_test_is_about_what_its_imports_keys_flags_commands_and_kinds_need(
    facts: Facts, room: str
) -> None:
    assert room in ROOMS.named_by(facts)


def test_engine_reaches_its_rooms_and_not_those_of_developers() -> None:
    found = ROOMS.of_engine
    assert {"src/rolecall/reconcile", "src/rolecall/proxy", "src/rolecall/app.py"} <= found
    assert not [room for room in found if room.startswith("dev/")]


def test_helpers_are_what_a_test_imports_and_who_defines_its_fixtures() -> None:
    helpers = helpers_of("tests/e2e/own/test_mappings.py")
    assert {"tests/e2e/own/conftest.py", "tests/e2e/own/world.py"} <= set(helpers)
    assert "tests/e2e/shards/game.py" not in helpers


def test_keys_of_a_project_beside_a_test_count() -> None:
    assert "watchReads" not in facts_of(ROOT / "tests/browser/conftest.py").keys
    assert "kind" in facts_with_helpers("tests/browser/test_views.py").keys


def files_of(mapped: Map, *paths: str, budget_s: float = 600.0) -> list[str]:
    seconds = {"a": Seconds(0, 100.0), "b": Seconds(0, 250.0), "c": Seconds(0, 290.0)}
    return list(choose(paths, mapped, seconds, budget_s).chosen)


MAP = Map(
    by_room={"src/rolecall/extensions/skip": ["a", "b"], "src/rolecall/extensions/console": ["c"]},
    engine=["d", "c"],
    rooms_of_engine=frozenset({"src/rolecall/extensions/skip"}),
)
SKIP, PAGE = (
    "src/rolecall/extensions/skip/skips.py",
    "src/rolecall/extensions/console/page/server.py",
)


def test_specific_tests_come_first_and_each_room_gets_its_turn() -> None:
    assert files_of(MAP, PAGE) == ["c"]
    assert files_of(MAP, PAGE, SKIP, budget_s=400.0) == ["c", "a"]
    assert files_of(MAP, SKIP, PAGE, budget_s=400.0) == ["c", "a"], "the order of paths is nothing"


def test_tests_that_only_pass_through_a_room_fill_half_of_the_budget() -> None:
    assert files_of(MAP, SKIP, budget_s=600.0) == ["a", "b"]
    assert files_of(MAP, SKIP, budget_s=760.0) == ["a", "b", "d"], "350 s and 30 s of 380 s"
    assert UNKNOWN_S == 30.0


@pytest.mark.slow
def test_changed_test_and_the_tests_of_a_changed_helper_come_before_all_others() -> None:
    nightly = nightly_files()[0]
    assert files_of(MAP, SKIP, nightly)[0] == nightly
    helper = next(each for each in helpers_of(nightly) if "/test_" not in each)
    assert nightly in files_of(Map({}, [], frozenset()), helper, budget_s=10_000.0)


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commits of the 1st, the 3rd at noon and the 3rd in the evening, each with a file."""
    monkeypatch.setattr(commits, "ROOT", tmp_path)
    monkeypatch.delenv("CI_BASE", raising=False)
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    for name, date in (("a", "01T12"), ("b", "03T12"), ("c", "03T20")):
        (tmp_path / name).touch()
        git(tmp_path, "add", name)
        git(tmp_path, "commit", "--quiet", "-m", name, date=f"2026-11-{date}:00:00+00:00")
    return tmp_path


def git(folder: Path, *words: str, date: str = "") -> None:
    who = {
        f"GIT_{role}_{what}": "x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), **who, **dates}
    subprocess.run(["git", *words], cwd=folder, env=environment, check=True, capture_output=True)


def changed() -> list[str]:
    return commits.changed_paths(commits.base()[0])


def test_commits_of_the_day_before_head_count(history: Path) -> None:
    assert changed() == ["b", "c"]


def test_commits_that_origin_does_not_have_count(history: Path) -> None:
    git(history, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    assert changed() == ["c"]


def test_base_can_be_given(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_BASE", "HEAD~1")
    assert changed() == ["c"]


def test_all_counts_where_the_whole_history_is_of_one_day(history: Path) -> None:
    git(history, "checkout", "--quiet", "HEAD~2")
    assert changed() == ["a"]
