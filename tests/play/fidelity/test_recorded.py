"""A recording is used until something changes that a stock run depends on, and in every clone."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rolecall.runner import Ending, RunResult
from rolecall.runner.warm.proof.groups import CaseGroup, GroupOutcome
from tests.apiserver.warm.surroundings import inputs_of_requests
from tests.play.fidelity import harness, recorded
from tests.play.fidelity.recorded import ALL_ANEW, ROOT, Recorded

GROUP = CaseGroup("group", {"cases": {"one": []}})
OUTCOME = GroupOutcome(RunResult("recorded", Ending.FINISHED, 0), {"one": []}, way="stock")
INPUTS = {*recorded.inputs_of_stock_runs(), *inputs_of_requests()}
STALE = "recorded before something of it changed"


@pytest.fixture(autouse=True)
def in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings are, even where `STOCK=1` makes all stock runs."""
    monkeypatch.delenv(ALL_ANEW, raising=False)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Copies what a recording depends on to a folder of this name, and works there."""

    def copied(name: str) -> Path:
        root = tmp_path / name
        for path in INPUTS:
            target = root / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        for module in (recorded, harness):
            monkeypatch.setattr(module, "ROOT", root)
        monkeypatch.setattr(harness, "COLLECTIONS", root / ".collections")
        monkeypatch.setattr(recorded, "HERE", root / "tests/play/fidelity")
        monkeypatch.setattr(recorded, "SOURCES", (root / "src", root / "base" / "src"))
        monkeypatch.setattr(recorded, "RUNNER", root / "src/rolecall/runner")
        return root

    return copied


def _recorded(folder: Path, root: Path) -> Recorded:
    """As the tier of the API server has it."""
    return Recorded(folder, [root / path.relative_to(ROOT) for path in inputs_of_requests()])


def _kept(folder: Path, root: Path) -> None:
    _recorded(folder, root).keep(GROUP, harness.conditions_of(GROUP), OUTCOME)


def _found(folder: Path, root: Path, conditions: str = "") -> GroupOutcome | str:
    return _recorded(folder, root).find(GROUP, conditions or harness.conditions_of(GROUP))


def _text_of(outcome: GroupOutcome | str) -> object:
    return outcome if isinstance(outcome, str) else (outcome.slices, outcome.ending, outcome.way)


def test_recording_is_used_in_a_clone_with_a_longer_name(
    tmp_path: Path, clone: Callable[[str], Path]
) -> None:
    _kept(tmp_path / "kept", clone("short"))
    found = _found(tmp_path / "kept", clone("a-much-longer-name/of-a-clone"))
    assert _text_of(found) == _text_of(OUTCOME)


def test_recording_is_used_whatever_the_caller_has_in_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kept(tmp_path, ROOT)
    monkeypatch.setenv("ANSIBLE_GATHERING", "explicit")
    assert _text_of(_found(tmp_path, ROOT)) == _text_of(OUTCOME)
    assert "ANSIBLE_GATHERING" not in harness.engine_environment(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "src/rolecall/runner/stock/supervisor.py",
        "src/rolecall/runner/inputs.py",
        "base/src/rolecall_base/processes.py",
        "src/rolecall/settings/model.py",
        "src/rolecall/proxy/forward.py",
        "src/rolecall/runner/warm/proof/normal.py",
        "tests/play/fidelity/harness.py",
        "tests/apiserver/warm/surroundings.py",
        "lock/collections.toml",
    ],
)
def test_recording_is_stale_once_a_file_changed_that_a_stock_run_goes_through(
    tmp_path: Path, clone: Callable[[str], Path], name: str
) -> None:
    root = clone("clone")
    _kept(tmp_path / "kept", root)
    with (root / name).open("a") as file:
        file.write("# changed\n")
    assert _found(tmp_path / "kept", root) == STALE


def test_recording_is_stale_once_a_setting_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kept(tmp_path, ROOT)
    real = harness.settings_of
    monkeypatch.setattr(
        harness, "settings_of", lambda *of: dataclasses.replace(real(*of), skip_facts=True)
    )
    assert _found(tmp_path, ROOT) == STALE


def test_recording_is_stale_once_the_environment_of_plays_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kept(tmp_path, ROOT)
    real = harness.engine_environment
    monkeypatch.setattr(
        harness, "engine_environment", lambda root: real(root) | {"ANSIBLE_FORCE_COLOR": "1"}
    )
    assert _found(tmp_path, ROOT) == STALE


def test_recording_is_stale_once_its_group_changed(tmp_path: Path) -> None:
    _kept(tmp_path, ROOT)
    changed = CaseGroup("group", {"cases": {"one": [{"debug": {}}]}})
    conditions = harness.conditions_of(GROUP)
    assert _recorded(tmp_path, ROOT).find(changed, conditions) == STALE


def test_group_of_what_only_this_machine_says_is_never_recorded(tmp_path: Path) -> None:
    group = CaseGroup("group", {**GROUP.data, "anew": "facts are of this machine"})
    conditions = harness.conditions_of(group)
    _recorded(tmp_path, ROOT).keep(group, conditions, OUTCOME)
    assert list(tmp_path.iterdir()) == []
    assert _recorded(tmp_path, ROOT).find(group, conditions) == "facts are of this machine"


def test_each_tier_makes_a_stock_run_of_some_group_each_time() -> None:
    for folder in (harness.CASES, ROOT / "tests/apiserver/warm/cases"):
        assert any(group.data.get("anew") for group in harness.groups(folder)), folder
