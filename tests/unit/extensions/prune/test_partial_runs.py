"""Arguments that make a run do a part of its play."""

from __future__ import annotations

import pytest

from rolecall.extensions.prune import partial_by


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ("--tags install", "--tags"),
        ("--tags=install", "--tags"),
        ("--tag install", "--tags"),
        ("-t install", "--tags"),
        ("-tinstall", "--tags"),
        ("-vvt install", "--tags"),
        ("--skip-tags slow", "--skip-tags"),
        ("--start-at-task 'make it'", "--start-at-task"),
        ("--check", "--check"),
        ("-C", "--check"),
        ("--limit localhost", "--limit"),
        ("-l localhost", "--limit"),
        ("--step", "--step"),
        ("--diff -e 'unbalanced --tags x", "--tags"),
    ],
)
def test_part_is_noticed(arguments: str, option: str) -> None:
    assert partial_by(arguments, {}) == option


@pytest.mark.parametrize(
    "arguments", ["", "-vvv", "--diff", "-e tags=all", "-eCt=1", "--extra-vars x=--tagged", "-f 5"]
)
def test_whole_runs_are_left_alone(arguments: str) -> None:
    assert partial_by(arguments, {"ANSIBLE_RUN_TAGS": ""}) == ""


def test_variables_count_too() -> None:
    assert partial_by("", {"ANSIBLE_SKIP_TAGS": "slow"}) == "ANSIBLE_SKIP_TAGS"
