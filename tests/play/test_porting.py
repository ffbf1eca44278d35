"""A role whose condition is a number: every ansible-core reports its place and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.runner import broken_conditionals
from tests.play.plays import Played, Workspace, play

PLACE = "roles/written_for_2_18/tasks/main.yml"


def played(folder: Path, way: str, monkeypatch: pytest.MonkeyPatch, allowed: str) -> Played:
    # The default is the other one on either side of 2.19.
    monkeypatch.setenv("ANSIBLE_ALLOW_BROKEN_CONDITIONALS", allowed)
    return play(Workspace(folder, way=way), "written_for_2_18")


@pytest.mark.parametrize("way", [pytest.param("stock", marks=pytest.mark.nightly), "warm"])
def test_refused_condition_fails_with_what_to_write(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = played(tmp_path, way, monkeypatch, "false")

    (failure,) = run.result.failures
    assert "onditional result" in failure.message
    assert "write `... | length > 0`" in failure.detail
    assert failure.place.endswith(f"{PLACE}:1")


@pytest.mark.parametrize("way", [pytest.param("stock", marks=pytest.mark.nightly), "warm"])
def test_allowed_condition_is_found_in_what_the_run_printed(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = played(tmp_path, way, monkeypatch, "true")

    assert run.result.succeeded
    found = [it for event in run.events for it in broken_conditionals(event.stdout)]
    assert [(it.file.endswith(PLACE), it.line, it.type) for it in found] == [(True, 4, "int")]
