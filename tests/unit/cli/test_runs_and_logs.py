"""What runs of a CR left, as a person reads it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from rolecall.history import FailedTask, write_run
from tests.unit.cli.fake_engine import FakeEngine, cr

NOW = datetime.now(UTC)
OUTPUT = """
PLAY [web] *********

TASK [web : a] *********
changed: [localhost]

PLAY RECAP *********
localhost                  : ok=2    changed=1    unreachable=0    failed=0
"""


def with_runs(engine: FakeEngine) -> None:
    engine.crs = [cr("shop")]
    task = FailedTask("install", "roles/web/tasks/main.yml:12", "no such image")
    older, newer = NOW - timedelta(hours=30), NOW - timedelta(hours=12, minutes=30)
    facts = {"cause": "edit of generation 4", "seconds": 12.25}
    engine.keep_run(
        "shop",
        "aa11",
        "older\n",
        outcome="failed",
        began=older,
        ended=older,
        failed_task=task,
        **facts,
    )
    engine.keep_run(
        "shop",
        "ab22",
        OUTPUT,
        outcome="succeeded",
        cause="drift of Deployment web",
        changed_tasks=("roles/web/tasks/main.yml:3: configure",),
        began=newer,
        ended=newer,
        seconds=0.5,
    )


def test_runs_are_listed_newest_first_with_cause_and_outcome(engine: FakeEngine) -> None:
    with_runs(engine)
    said = engine.rolecall("runs", "website/shop").stdout.splitlines()
    assert said[1].split() == [
        *(
            "ab22",
            "12h",
            "drift",
            "of",
            "Deployment",
            "web",
            "succeeded",
            "0.5s",
            "1:",
            "configure",
        ),
    ]
    assert "edit of generation 4" in said[2]
    assert said[2].endswith("install (roles/web/tasks/main.yml:12): no such image")


def test_runs_as_json_are_those_of_run_json(engine: FakeEngine) -> None:
    with_runs(engine)
    found = json.loads(engine.rolecall("runs", "website/shop", "-o", "json").stdout)
    assert [each["run"] for each in found["runs"]] == ["ab22", "aa11"]
    assert (found["kind"], found["name"]) == ("Website", "shop")


def test_runs_of_a_deleted_cr_are_still_reported(engine: FakeEngine) -> None:
    with_runs(engine)
    engine.crs = []
    assert "ab22" in engine.rolecall("runs", "website/shop").stdout


def test_logs_are_those_of_the_newest_run(engine: FakeEngine) -> None:
    with_runs(engine)
    said = engine.rolecall("logs", "website/shop")
    assert said.stdout == OUTPUT
    assert "drift of Deployment web" in said.stderr


def test_logs_of_one_run_by_the_beginning_of_its_id(engine: FakeEngine) -> None:
    with_runs(engine)
    assert engine.rolecall("logs", "website/shop", "--run", "aa").stdout == "older\n"
    several = engine.rolecall("logs", "website/shop", "--run", "a")
    assert several.returncode == 2
    assert "`ab22`, `aa11`" in several.stderr
    assert engine.rolecall("logs", "website/shop", "--run", "x").returncode == 2


def test_logs_of_the_newest_failed_run(engine: FakeEngine) -> None:
    with_runs(engine)
    assert engine.rolecall("logs", "website/shop", "--failed").stdout == "older\n"


def test_logs_without_an_engine(ended_engine: FakeEngine) -> None:
    with_runs(ended_engine)
    assert ended_engine.rolecall("logs", "website/shop", "-f").stdout == OUTPUT


def test_logs_as_json_name_the_run_of_each_line(engine: FakeEngine) -> None:
    with_runs(engine)
    said = engine.rolecall("logs", "website/shop", "--failed", "-o", "json").stdout
    assert json.loads(said) == {"run": "aa11", "line": "older"}


def test_follow_prints_a_run_in_flight_and_the_next_one(engine: FakeEngine) -> None:
    engine.crs = [cr("shop")]
    run = engine.keep_run("shop", "aa11", "first\nseco", outcome="running", began=NOW)
    command = engine.command("logs", "-f", "website/shop")
    with subprocess.Popen(
        command, env=engine.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "first\n"
        with run.stdout.open("a") as file:
            file.write("nd\n")
        assert process.stdout.readline() == "second\n"
        write_run(replace(run, outcome="succeeded", ended=NOW, seconds=1.0))
        later = NOW + timedelta(seconds=2)
        engine.keep_run("shop", "bb22", "next\n", outcome="running", began=later, cause="period")
        assert process.stdout.readline() == "next\n"
        process.send_signal(2)
        said = process.stderr.read()
        assert process.wait() == 130
    assert "run aa11 succeeded after 1.0s" in said
    assert "Traceback" not in said


def test_follow_waits_for_a_run_whose_folder_is_just_being_made(engine: FakeEngine) -> None:
    engine.crs = [cr("shop")]
    first = engine.keep_run("shop", "aa11", "first\n", outcome="succeeded", began=NOW)
    command = engine.command("logs", "-f", "website/shop")
    with subprocess.Popen(
        command, env=engine.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "first\n"
        (first.folder.parent / "cc33").mkdir()
        soon, later = NOW + timedelta(seconds=1), NOW + timedelta(seconds=2)
        # Once this one is printed, the folder has been looked at.
        engine.keep_run("shop", "bb22", "next\n", outcome="succeeded", began=soon)
        assert process.stdout.readline() == "next\n"
        engine.keep_run("shop", "cc33", "last\n", outcome="succeeded", began=later)
        assert process.stdout.readline() == "last\n"
        process.send_signal(2)
        process.communicate()


COMMANDS = (
    "status",
    "runs website/shop",
    "logs website/shop",
    "__complete status website/",
    "--help",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_reader_that_goes_ends_it_quietly(engine: FakeEngine, command: str) -> None:
    with_runs(engine)
    engine.keep_run(
        "shop", "cc33", "a line\n" * 20000, outcome="succeeded", began=NOW, cause="period"
    )
    engine.crs += [cr(f"shop-{number}") for number in range(3000)]
    whole = f"{sys.executable} -m rolecall {command} | true; echo ${{PIPESTATUS[0]}}"
    said = subprocess.run(
        ["bash", "-c", whole], env=engine.environ(), capture_output=True, text=True, check=True
    )
    assert "Traceback" not in said.stderr
    assert "BrokenPipe" not in said.stderr
    assert said.stdout.strip() in ("0", "141")
